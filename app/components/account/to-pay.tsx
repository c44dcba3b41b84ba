import { Badge } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import type { OwnBilling } from './own-contracts.tsx';

export function ToPay({ open, isMoreOpen, howToPay }: Pick<OwnBilling, 'open' | 'isMoreOpen' | 'howToPay'>) {
  return (
    <Section id="to-pay" title="To pay">
      {isMoreOpen && (
        <p>
          These {open.length} were due first. There are more to pay: you find them among your invoices below.
        </p>
      )}
      <Rows>
        {open.map(({ number, title, dueOn, isOverdue, open: amount, payLink }) => (
          <Row
            key={number}
            icon="invoice"
            title={`Invoice ${number}`}
            about={
              <>
                <bdi className="plan">{title}</bdi>, {isOverdue ? 'was due on' : 'due on'} <Day at={dueOn} />
              </>
            }
            end={
              <>
                <Money {...amount} />
                <Badge meaning={isOverdue ? 'needs-you' : 'waiting'}>
                  {isOverdue ? 'Overdue' : 'Unpaid'}
                </Badge>
              </>
            }
          >
            {payLink && <PayLink href={payLink} amount={amount} number={number} />}
          </Row>
        ))}
      </Rows>
      {howToPay && (
        <HowToPay
          {...howToPay}
          reference={open.length === 1 ? (open[0]?.number ?? '') : 'The number of the invoice'}
        />
      )}
    </Section>
  );
}

export const PayLink = ({ href, amount, number }: { href: string; amount: Amount; number: string }) => (
  <a className="button" href={href} rel="noreferrer">
    <span>
      Pay <Money {...amount} /> now<span className="visually-hidden"> for invoice {number}</span>
    </span>
  </a>
);

/** An IBAN in groups of four, as people type it. */
export const group = (iban: string) => iban.replaceAll(/(.{4})(?=.)/g, '$1 ');

type Account = NonNullable<OwnBilling['howToPay']>;

export function HowToPay({ text, recipient, iban, bic, reference }: Account & { reference: string }) {
  if (!text && !iban) return null;
  return (
    <div className="how-to-pay">
      <h3>How to pay</h3>
      {text && (
        <p>
          <bdi>{text}</bdi>
        </p>
      )}
      {iban && (
        <dl className="facts">
          <dt>Recipient</dt>
          <dd>
            <bdi>{recipient}</bdi>
          </dd>
          <dt>IBAN</dt>
          <dd className="code">{group(iban)}</dd>
          {bic && (
            <>
              <dt>BIC</dt>
              <dd className="code">{bic}</dd>
            </>
          )}
          <dt>Reference</dt>
          <dd>{reference}</dd>
        </dl>
      )}
    </div>
  );
}

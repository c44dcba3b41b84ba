import { Badge, type Meaning } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Invoice = Amount & {
  number: string;
  plan: string;
  status: 'open' | 'paid' | 'void';
  issuedAt: Date;
  dueAt: Date;
};

const states: Record<Invoice['status'], [words: string, meaning: Meaning]> = {
  open: ['Unpaid', 'waiting'],
  paid: ['Paid', 'good'],
  void: ['Void', 'neutral'],
};

export function InvoiceState({ status, isOverdue }: { status: Invoice['status']; isOverdue: boolean }) {
  const [words, meaning] = states[status];
  return <Badge meaning={isOverdue ? 'needs-you' : meaning}>{isOverdue ? 'Overdue' : words}</Badge>;
}

type Listed = Invoice & { isOverdue: boolean; open: number; hasDocument: boolean };

/** The open amount in each currency. */
const sumOpen = (invoices: Listed[]): Amount[] =>
  [...new Set(invoices.filter(({ open }) => open > 0).map(({ currency }) => currency))].map((currency) => {
    const these = invoices.filter((invoice) => invoice.currency === currency);
    const unitAmount = these.reduce((sum, { open }) => sum + open, 0);
    return { currency, unitAmount, minorDigits: these[0]?.minorDigits ?? 2 };
  });

/** `isOwn` is true for the customer, and false for staff. `opens` says that the reader can open the invoices. */
export function Invoices({
  invoices,
  opens = true,
  isOwn = true,
}: {
  invoices: Listed[];
  opens?: boolean;
  isOwn?: boolean;
}) {
  const open = sumOpen(invoices);
  // If an invoice has no document, customers have no page to open.
  const linkOf = (hasDocument: boolean, number: string) =>
    opens && (hasDocument || !isOwn) ? `${isOwn ? '' : '/admin'}/invoices/${number}` : undefined;
  return (
    <Section
      id="invoices"
      title="Invoices"
      intro={
        open.length > 0 &&
        open.map((amount, at) => (
          <span key={amount.currency}>
            {at === 0 ? 'To pay: ' : ' and '}
            <Money {...amount} />
          </span>
        ))
      }
    >
      <Rows>
        {invoices.map(({ number, plan, status, issuedAt, dueAt, isOverdue, open, ...amount }) => (
          <Row
            key={number}
            href={linkOf(amount.hasDocument, number)}
            title={`Invoice ${number}`}
            about={
              <>
                <span className="plan">{plan}</span>, <Day at={issuedAt} />
                {status === 'open' && (
                  <>
                    , due&nbsp;
                    <Day at={dueAt} />
                  </>
                )}
              </>
            }
            end={
              <>
                <Money {...amount} />
                <InvoiceState status={status} isOverdue={isOverdue} />
                {open > 0 && open < amount.unitAmount && (
                  <span className="hint">
                    <Money {...amount} unitAmount={open} /> to pay
                  </span>
                )}
              </>
            }
          />
        ))}
      </Rows>
    </Section>
  );
}

// An invoice or a credit note.
import type { ReactNode } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { Fact } from '../fact.tsx';
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { InvoiceState } from './invoices.tsx';

type Got = Awaited<ReturnType<Procedures['invoices']['get']>>;
type Facts = NonNullable<Got['document']>;
export type OwnInvoice = Extract<Got, { kind: 'invoice' }>;
/** How much of an invoice is paid, credited and open. */
type Settling = Pick<
  OwnInvoice,
  'currency' | 'minorDigits' | 'credited' | 'allocated' | 'open' | 'status' | 'isOverdue'
>;

export type DocumentsPath = '/invoices' | '/admin/invoices';

export const nameOf = ({ kind, number }: { kind: 'invoice' | 'credit_note'; number: string }) =>
  `${kind === 'invoice' ? 'Invoice' : 'Credit note'} ${number}`;

const FactsDay = ({ day }: { day: string }) => <Day at={new Date(`${day}T00:00:00Z`)} />;

type SheetProps = {
  facts: Facts;
  minorDigits: number;
  /** Undefined for a credit note. */
  invoice?: Settling | undefined;
  path: DocumentsPath;
};

export function DocumentSheet({ facts, minorDigits, invoice, path }: SheetProps) {
  const { number, seller, buyer, line, currency, net, tax, total, rate, category, words, prices } = facts;
  const money = (unitAmount: number) => <Money {...{ currency, minorDigits, unitAmount }} />;
  return (
    <article className="card sheet" data-document={number}>
      <div className="parties">
        <Party title="From" name={seller.name} address={seller.address} countries={facts.countries}>
          {seller.vat_id && <div>VAT ID {seller.vat_id}</div>}
          {seller.tax_number && <div>Tax number {seller.tax_number}</div>}
          <div>{seller.email}</div>
        </Party>
        <Party title="To" name={buyer.name} address={buyer.address} countries={facts.countries}>
          {buyer.country && <div>{facts.countries[buyer.country]}</div>}
          {buyer.vat_id && <div>VAT ID {buyer.vat_id}</div>}
        </Party>
      </div>
      <dl className="facts">
        <Fact name={facts.kind === 'invoice' ? 'Invoice number' : 'Credit note number'}>{number}</Fact>
        <Fact name="Date of issue">
          <FactsDay day={facts.issued_on} />
        </Fact>
        {facts.replaces && <Fact name="Takes the place of">Invoice {facts.replaces}</Fact>}
        {facts.invoice && (
          <Fact name="Corrects">
            <a href={`${path}/${facts.invoice.number}`}>Invoice {facts.invoice.number}</a> of{' '}
            <FactsDay day={facts.invoice.issued_on} />
          </Fact>
        )}
        <Fact name="Period">
          <FactsDay day={line.first_day} /> to <FactsDay day={line.last_day} />
        </Fact>
        {facts.due_on && (
          <Fact name="Due">
            <FactsDay day={facts.due_on} />
          </Fact>
        )}
        {invoice && (
          <Fact name="Status">
            <InvoiceState {...invoice} />
          </Fact>
        )}
      </dl>
      <table>
        <thead>
          <tr>
            <th scope="col">Service</th>
            <th scope="col">{prices === 'net' ? 'Net amount' : 'Amount'}</th>
          </tr>
        </thead>
        <tbody>
          {facts.shown.map(({ title, description, quantity, amount }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change places
            <tr key={at}>
              <td>
                <bdi className="plan">{title}</bdi>
                {description && (
                  <p className="hint">
                    <bdi>{description}</bdi>
                  </p>
                )}
                {quantity > 1 && (
                  <p className="hint">
                    {quantity} × {money(amount / quantity)}
                  </p>
                )}
              </td>
              <td>{money(amount)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr className="part">
            <th scope="row">Net</th>
            <td>{money(net)}</td>
          </tr>
          <tr className="part">
            <th scope="row">{category === 'O' ? 'Tax' : `Tax, ${rate / 100}%`}</th>
            <td>{category === 'O' ? '–' : money(tax)}</td>
          </tr>
          <tr>
            <th scope="row">Total</th>
            <td>{money(total)}</td>
          </tr>
          {invoice && <Settled {...invoice} />}
        </tfoot>
      </table>
      {words && (
        <p>
          <bdi>{words}</bdi>
        </p>
      )}
      {seller.foot && (
        <p className="hint sheet-foot">
          <bdi>{seller.foot}</bdi>
        </p>
      )}
    </article>
  );
}

export function Settled({ currency, minorDigits, credited, allocated, open }: Settling) {
  const money = (unitAmount: number) => <Money {...{ currency, minorDigits, unitAmount }} />;
  return (
    <>
      {credited > 0 && (
        <tr className="part">
          <th scope="row">Credited</th>
          <td>{money(-credited)}</td>
        </tr>
      )}
      {allocated > 0 && (
        <tr className="part">
          <th scope="row">Paid</th>
          <td>{money(-allocated)}</td>
        </tr>
      )}
      <tr>
        <th scope="row">{credited + allocated > 0 ? 'Left to pay' : 'To pay'}</th>
        <td data-open={open}>{money(open)}</td>
      </tr>
    </>
  );
}

type PartyProps = {
  title: string;
  name: string;
  address: Facts['buyer']['address'];
  countries: Record<string, string>;
  children: ReactNode;
};

function Party({ title, name, address, countries, children }: PartyProps) {
  return (
    <div>
      <h2 className="party">{title}</h2>
      <address>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {address && (
          <>
            <div>
              <bdi>{address.line1}</bdi>
            </div>
            {address.line2 && (
              <div>
                <bdi>{address.line2}</bdi>
              </div>
            )}
            <div>
              <bdi>
                {address.postcode} {address.city}
              </bdi>
            </div>
            <div>{countries[address.country] ?? address.country}</div>
          </>
        )}
        {children}
      </address>
    </div>
  );
}

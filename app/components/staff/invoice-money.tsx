import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { nameOf } from '../account/document-sheet.tsx';
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Found = Awaited<ReturnType<Procedures['booksForms']['document']>>;
type Invoice = Extract<Found, { kind: 'invoice' }>;

export function InvoiceMoney({ invoice }: { invoice: Invoice }) {
  const { currency, minorDigits, payments, creditNotes } = invoice;
  const show = (amount: number) => <Money {...{ currency, minorDigits, unitAmount: amount }} />;
  return (
    <Section id="money" title="Payments and credit notes">
      {payments.length + creditNotes.length === 0 ? (
        <p className="hint">None yet.</p>
      ) : (
        <Rows>
          {payments.map(({ id, paidAt, method, reference, received, wentBack, allocated }) => {
            const elsewhere = received - wentBack - allocated;
            return (
              <Row
                key={id}
                title={
                  <>
                    Paid on <Day at={paidAt} />
                  </>
                }
                about={
                  <>
                    Payment <code>{id}</code>
                    {[method, reference].map(
                      (each) =>
                        each && (
                          <span key={each}>
                            , <bdi>{each}</bdi>
                          </span>
                        ),
                    )}
                    {received !== allocated && (
                      <>
                        <br />
                        {show(received)} came in.
                        {wentBack > 0 && <> {show(wentBack)} of it went back.</>}
                        {elsewhere > 0 && <> {show(elsewhere)} of it is not for this invoice.</>}
                      </>
                    )}
                  </>
                }
                end={show(allocated)}
              />
            );
          })}
          {creditNotes.map(({ number, issuedAt, total }) => (
            <Row
              key={number}
              href={`/admin/invoices/${number}`}
              title={nameOf({ kind: 'credit_note', number })}
              about={<Day at={issuedAt} />}
              end={show(total)}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

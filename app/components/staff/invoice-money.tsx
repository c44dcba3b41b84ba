import type { Procedures } from '../../../server/doors/trpc/router.ts';
import type { Refused } from '../../refused.ts';
import { nameOf } from '../account/document-sheet.tsx';
import { Field } from '../field.tsx';
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { ActForm } from './act-form.tsx';

type Found = Awaited<ReturnType<Procedures['booksForms']['document']>>;
type Invoice = Extract<Found, { kind: 'invoice' }>;

/** What paid and credited it. */
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

/** The forms that record a payment, credit the invoice and issue it anew. */
export function InvoiceActs({ invoice, refused: any }: { invoice: Invoice; refused: Refused | undefined }) {
  const { currency, minorDigits, status, open, credited, unitAmount, hasDocument, seen, today } = invoice;
  const refusedOf = (intent: string) => (any?.values.intent === intent ? any : undefined);
  const decimal = (amount: number) => (amount / 10 ** minorDigits).toFixed(minorDigits);
  const left = unitAmount - credited;
  const paid = refusedOf('pay');
  const amounts = {
    inputMode: 'decimal',
    autoComplete: 'off',
    hint: `In ${currency}, such as ${decimal(2_900)}`,
  } as const;
  return (
    <Section id="acts" title="Change something" bare>
      <div className="acts">
        <ActForm
          intent="pay"
          label="Record a payment"
          button="Record the payment"
          about={{ seen, payment: paid?.values.payment ?? invoice.nextPayment }}
          refused={paid}
          notice={
            open > 0
              ? 'It pays what is still to pay. Anything above that waits until you say what it pays, or that it was paid back.'
              : 'Nothing is left to pay here. The payment waits until you say what it pays, or that it was paid back.'
          }
          fields={
            <>
              <Field
                {...amounts}
                label="Amount"
                name="amount"
                required
                defaultValue={paid?.values.amount ?? (open > 0 ? decimal(open) : undefined)}
                error={paid?.errors.amount ?? paid?.errors.payment}
              />
              <Field
                label="Paid on"
                name="paidAt"
                type="date"
                min="2000-01-01"
                max={today}
                required
                defaultValue={paid?.values.paidAt ?? today}
                error={paid?.errors.paidAt}
              />
              <Field
                label="How it was paid (optional)"
                hint="Such as transfer or cash"
                name="method"
                maxLength={60}
                autoComplete="off"
                defaultValue={paid?.values.method}
                error={paid?.errors.method}
              />
            </>
          }
        />
        {status !== 'void' && (
          <ActForm
            intent="credit"
            label={hasDocument ? 'Credit the invoice' : 'Make the invoice void'}
            button={hasDocument ? 'Issue the credit note' : 'Make it void'}
            danger
            about={{ seen }}
            refused={refusedOf('credit')}
            notice={
              hasDocument
                ? 'The customer gets a credit note, and owes that much less. What they have paid too much then waits for another invoice, or to be paid back. This cannot be undone.'
                : 'The customer owes nothing for it any more. What they have paid waits for another invoice, or to be paid back. This cannot be undone.'
            }
            fields={
              hasDocument && (
                <Field
                  {...amounts}
                  label="Amount with tax (optional)"
                  hint={`Leave it empty to credit all that is left: ${currency} ${decimal(left)}`}
                  name="amount"
                  defaultValue={refusedOf('credit')?.values.amount}
                  error={refusedOf('credit')?.errors.amount}
                />
              )
            }
          />
        )}
        {hasDocument && credited === 0 && (
          <ActForm
            intent="reissue"
            label="Issue it again"
            button="Issue it again"
            danger
            about={{ seen }}
            refused={refusedOf('reissue')}
            notice="For a wrong name, address or VAT ID. Ask the customer to change it under Billing, and mark a new VAT ID as checked, before you go on. We credit this invoice whole, and issue a new one with their present details, for the same period and at the same price. What was paid counts for the new one. The customer gets both. This cannot be undone."
          />
        )}
      </div>
    </Section>
  );
}

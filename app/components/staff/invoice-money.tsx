import type { Procedures } from '../../../server/trpc/router.ts';
import type { Refused } from '../../refused.ts';
import { Field } from '../field.tsx';
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { BookAct } from './book-act.tsx';

export type Invoice = Awaited<ReturnType<Procedures['booksForms']['invoice']>>;

/** What of the total was credited and paid, and what is open. */
export function InvoiceMoney({ invoice }: { invoice: Invoice }) {
  const { currency, minorDigits, unitAmount, credited, allocated, open, payments, creditNotes } = invoice;
  const show = (amount: number) => <Money {...{ currency, minorDigits, unitAmount: amount }} />;
  return (
    <Section id="money" title="What is paid, and what is not">
      <dl className="facts">
        <dt>Total</dt>
        <dd>{show(unitAmount)}</dd>
        <dt>Credited</dt>
        <dd>{show(credited)}</dd>
        <dt>Paid</dt>
        <dd>{show(allocated)}</dd>
        <dt>Still to pay</dt>
        <dd data-open={open}>{show(open)}</dd>
      </dl>
      {(payments.length > 0 || creditNotes.length > 0) && (
        <Rows>
          {payments.map(({ id, paidAt, method, reference, amount }) => (
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
                  {method && (
                    <>
                      , <bdi>{method}</bdi>
                    </>
                  )}
                  {reference && (
                    <>
                      , <bdi>{reference}</bdi>
                    </>
                  )}
                </>
              }
              end={show(amount)}
            />
          ))}
          {creditNotes.map(({ number, issuedAt, total }) => (
            <Row
              key={number}
              title={`Credit note ${number}`}
              about={<Day at={issuedAt} />}
              end={show(-total)}
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
        <BookAct
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
          <BookAct
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
                  hint={`Leave it empty to credit all that is left: ${decimal(left)} ${currency}`}
                  name="amount"
                  defaultValue={refusedOf('credit')?.values.amount}
                  error={refusedOf('credit')?.errors.amount}
                />
              )
            }
          />
        )}
        {hasDocument && credited === 0 && (
          <BookAct
            intent="reissue"
            label="Issue it again with the customer’s present details"
            button="Issue it again"
            danger
            about={{ seen }}
            refused={refusedOf('reissue')}
            notice="For a wrong address or VAT id: change those first. We credit this invoice whole and issue a new one for the same period, at the same price. What was paid counts for the new one. The customer gets both. This cannot be undone."
          />
        )}
      </div>
    </Section>
  );
}

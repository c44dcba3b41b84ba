import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { Waits } from '../../server/staff/books.ts';
import { answerAct } from '../act-forms.ts';
import { Confirm } from '../components/confirm.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Field } from '../components/field.tsx';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { ActForm, Refusal } from '../components/staff/act-form.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import type { Refused } from '../refused.ts';
import { loadForStaff } from '../staff.ts';

/** The forms are the browser's own: no script keeps what is shown of people. */
export const handle = { isStatic: true };

export const meta = titled('Unallocated payments');

export async function loader(args: LoaderFunctionArgs) {
  const { transport } = args.context;
  const loaded = await loadForStaff(args, (procedures) => procedures.booksForms.waiting());
  return { ...loaded, saved: transport.readQuery(args.request).get('saved') };
}

export const action = (args: ActionFunctionArgs) => answerAct(args, 'payment');

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** What the page that asks for a credential says one goes on to. */
const buttons = new Map([
  ['allocate', 'Allocate the payment'],
  ['paid-back', 'Record that it was paid back'],
]);

const outcomes = new Map([
  ['allocate', 'It is allocated to the invoice, as far as the money goes.'],
  ['paid-back', 'It counts as paid back.'],
]);

type Payment = Awaited<ReturnType<typeof loader>>['payments'][number];

const Named = ({ number }: { number: string }) => <a href={`/admin/invoices/${number}`}>invoice {number}</a>;

/** Why it waits. `number`: what the payer named. */
const why: Record<Waits, (number: string) => ReactNode> = {
  refund_first: () =>
    'A refund of a payment that we do not know yet. It sorts itself out once the payment is reported.',
  refund_too_much: () =>
    'More was refunded than was paid. Ask the payment provider: nothing can be changed about it here.',
  no_number: () => 'It names no invoice.',
  unknown_number: (number) => (
    <>
      It names the invoice <bdi>{number}</bdi>, which there is not.
    </>
  ),
  other_currency: (number) => (
    <>
      It names <Named number={number} />, which is in another currency.
    </>
  ),
  is_void: (number) => (
    <>
      It names <Named number={number} />, which is void.
    </>
  ),
  is_paid: (number) => (
    <>
      It is more than <Named number={number} /> came to, or came after that was paid.
    </>
  ),
  left: (number) => (
    <>
      It names <Named number={number} />, which is not paid.
    </>
  ),
};

export default function Unallocated() {
  const { who, payments, more, saved } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) {
    const { intent = '', payment } = refused.values;
    return <Confirm refused={refused} asks={refused.asks} to={buttons.get(intent)} about={payment} />;
  }
  const outcome = outcomes.get(saved ?? '');
  const isSaidAtForm = payments.some((payment) => isOf(refused, payment));
  return (
    <StaffPage
      title="Unallocated payments"
      intro="Money that came in and pays no invoice yet. Say what it pays, or that it was paid back."
      who={who}
      current="/admin/billing"
      part="/admin/billing/unallocated"
    >
      {!refused && outcome && (
        <Notice kind="success" focus>
          {outcome}
        </Notice>
      )}
      {refused && !isSaidAtForm && <Refusal refused={refused} />}
      {payments.length === 0 ? (
        <div className="card">
          <EmptyState icon="check" title="Nothing is unallocated">
            <p>Every payment pays an invoice, or was paid back.</p>
          </EmptyState>
        </div>
      ) : (
        <Section id="waiting" title={more ? 'The oldest 100' : 'The oldest first'}>
          <Rows>
            {payments.map((payment) => (
              <Waiting key={payment.id} payment={payment} refused={refused} />
            ))}
          </Rows>
        </Section>
      )}
    </StaffPage>
  );
}

const isOf = (refused: Refused | undefined, { id, kind }: Payment) =>
  kind === 'payment' && refused?.values.payment === id && buttons.has(refused.values.intent ?? '');

function Waiting({ payment, refused: any }: { payment: Payment; refused: Refused | undefined }) {
  const { id, kind, currency, minorDigits, amount, unallocated, seen, invoiceNumber, waits, freedBy } =
    payment;
  const refusedOf = (intent: string) =>
    isOf(any, payment) && any?.values.intent === intent ? any : undefined;
  const about = { payment: id, seen };
  const allocated = refusedOf('allocate');
  return (
    <Row
      title={
        <>
          {kind === 'payment' ? 'Paid on' : 'Refunded on'} <Day at={payment.paidAt} />
        </>
      }
      about={
        <>
          {freedBy && (
            <>
              Freed: <Named number={freedBy} /> was credited.
              {waits && <br />}
            </>
          )}
          {waits && why[waits](invoiceNumber ?? '')}
          <br />
          {kind === 'payment' ? 'Payment' : 'Refund'} <code>{id}</code>
          {payment.of && (
            <>
              {' of '}
              <code>{payment.of}</code>
            </>
          )}
          {[payment.method, payment.reference]
            .filter((each) => each !== null)
            .map((each) => (
              <span key={each}>
                , <bdi>{each}</bdi>
              </span>
            ))}
        </>
      }
      end={
        <span data-unallocated={unallocated}>
          <Money {...{ currency, minorDigits, unitAmount: unallocated }} />
          {unallocated < amount && kind === 'payment' && (
            <>
              {' of '}
              <Money {...{ currency, minorDigits, unitAmount: amount }} />
            </>
          )}
        </span>
      }
    >
      {kind === 'payment' && (
        <div className="acts">
          <ActForm
            intent="allocate"
            label="Allocate to an invoice"
            button="Allocate"
            about={about}
            refused={allocated}
            notice="It pays what is still to pay of that invoice. Anything above that stays unallocated."
            fields={
              <Field
                label="Number of the invoice"
                name="number"
                required
                maxLength={64}
                autoComplete="off"
                defaultValue={
                  allocated?.values.number ?? (waits === 'left' ? (invoiceNumber ?? '') : undefined)
                }
                error={allocated?.errors.number}
              />
            }
          />
          <ActForm
            intent="paid-back"
            label="Record as paid back"
            button="Record that it was paid back"
            danger
            about={about}
            refused={refusedOf('paid-back')}
            notice="Pay it back at your bank or payment provider first. This only writes down that you did, and cannot be undone."
          />
        </div>
      )}
    </Row>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { Waits } from '../../server/staff/invoices.ts';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Acts, askBefore, Outcome } from '../components/staff/acts.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { loadForStaff } from '../staff.ts';

/** Returns the number of the invoice whose page led here. Staff are looking for money that pays it. */
const readPays = ({ context, request }: LoaderFunctionArgs) =>
  context.transport.readQuery(request).get('number') ?? undefined;

export const meta = titled('Unallocated payments');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({
    ...(await procedures.booksForms.waiting({ pays: readPays(args) })),
    outcome: await loadOutcome(args, 'payment'),
  }));

export const action = (args: ActionFunctionArgs) => answerAct(args, 'payment');

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

type Payment = Awaited<ReturnType<typeof loader>>['payments'][number];

const Named = ({ number }: { number: string }) => <a href={`/admin/invoices/${number}`}>invoice {number}</a>;

/** `number` is the invoice number that the payer named. */
const why: Record<Waits, (number: string) => ReactNode> = {
  refund_first: () =>
    'A refund of a payment that we do not know yet. It sorts itself out once the payment is reported.',
  refund_too_much: () =>
    'More was refunded than was paid. Ask the payment provider: nothing can be changed about it here.',
  no_number: () => 'It was recorded without an invoice.',
  unknown_number: (number) => (
    <>
      It names invoice <bdi>{number}</bdi>, which does not exist.
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
      It is more than <Named number={number} /> came to, or that invoice was already paid.
    </>
  ),
  left: (number) => (
    <>
      It names <Named number={number} />, which is not paid.
    </>
  ),
};

export default function Unallocated() {
  const { who, payments, more, outcome } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const forms = payments.flatMap((payment) => payment.forms);
  const asks = askBefore(refused, { forms, about: refused?.values.payment });
  if (asks) return asks;
  return (
    <StaffPage
      title="Unallocated payments"
      intro="Money that came in and pays no invoice yet. Say what it pays, or that it was paid back."
      who={who}
      current="/admin/billing"
      part="/admin/billing/unallocated"
    >
      <Outcome forms={forms} outcome={outcome} />
      {payments.length === 0 ? (
        <div className="card">
          <EmptyState icon="check" title="Nothing is unallocated">
            <p>Every payment pays an invoice, or was paid back.</p>
          </EmptyState>
        </div>
      ) : (
        <Section id="waiting" title={more ? 'The 100 that have waited longest' : 'Longest waiting first'}>
          <Rows>
            {payments.map((payment) => (
              <Waiting key={payment.id} payment={payment} />
            ))}
          </Rows>
        </Section>
      )}
    </StaffPage>
  );
}

function Waiting({ payment }: { payment: Payment }) {
  const {
    id,
    kind,
    currency,
    minorDigits,
    amount,
    unallocated,
    invoiceNumber,
    buyer,
    waits,
    freedBy,
    forms,
  } = payment;
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
          {buyer && (
            <>
              {' '}
              That invoice is to <bdi>{buyer}</bdi>.
            </>
          )}
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
      <Acts forms={forms} />
    </Row>
  );
}

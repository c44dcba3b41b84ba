import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerBookForm } from '../book-forms.ts';
import { InvoiceState } from '../components/account/invoices.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Day } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Section } from '../components/section.tsx';
import { buildTitle } from '../components/service-name.ts';
import { Refusal } from '../components/staff/act.tsx';
import { DocumentFacts } from '../components/staff/document-facts.tsx';
import { InvoiceActs, InvoiceMoney } from '../components/staff/invoice-money.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, personPath } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

/** The forms are the browser's own: no script keeps what is shown of people. */
export const handle = { isStatic: true };

export const meta: MetaFunction = ({ params, matches }) => [
  { title: buildTitle(`Invoice ${params.number}`, matches) },
];

export async function loader(args: LoaderFunctionArgs) {
  const { transport } = args.context;
  const number = args.params.number ?? '';
  const loaded = await loadForStaff(args, async (procedures) => ({
    invoice: await procedures.booksForms.invoice({ number }),
  }));
  return { ...loaded, saved: transport.readQuery(args.request).get('saved') };
}

export const action = (args: ActionFunctionArgs) =>
  answerBookForm(args, { number: args.params.number ?? '' });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** What the page that asks for a credential says one goes on to. */
const buttons = new Map([
  ['pay', 'Record the payment'],
  ['credit', 'Credit the invoice'],
  ['reissue', 'Issue the invoice again'],
]);

const outcomes = new Map([
  ['pay', 'The payment is recorded.'],
  ['credit', 'The invoice is credited.'],
  ['reissue', 'The invoice is credited, and a new one is issued. It is on the page of the customer.'],
]);

export default function InvoicePage() {
  const { who, invoice, saved } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const { number, buyer, facts, minorDigits } = invoice;
  if (refused?.asks) {
    const intent = refused.values.intent ?? '';
    const isDanger = ['credit', 'reissue'].includes(intent);
    return (
      <Confirm
        refused={refused}
        asks={refused.asks}
        to={buttons.get(intent)}
        about={number}
        danger={isDanger}
      />
    );
  }
  const outcome = outcomes.get(saved ?? '');
  const isSaidAtForm = invoice.mayChange && buttons.has(refused?.values.intent ?? '');
  return (
    <StaffPage
      title={`Invoice ${number}`}
      intro={
        <>
          For{' '}
          {buyer.userId ? (
            <a href={personPath(buyer.userId)}>
              <Name>{buyer.name}</Name>
            </a>
          ) : (
            <Name>{buyer.name}</Name>
          )}{' '}
          <InvoiceState {...invoice} />
        </>
      }
      who={who}
      current="/admin/people"
    >
      {!refused && outcome && (
        <Notice kind="success" focus>
          {outcome}
        </Notice>
      )}
      {refused && !isSaidAtForm && <Refusal refused={refused} />}
      <InvoiceMoney invoice={invoice} />
      {invoice.mayChange ? (
        <InvoiceActs invoice={invoice} refused={refused} />
      ) : (
        <Notice kind="info">
          This invoice is of your own account. Ask another administrator to change something about it.
        </Notice>
      )}
      {facts ? (
        <DocumentFacts facts={facts} minorDigits={minorDigits} />
      ) : (
        <Section id="document" title="What the invoice is for">
          <p>It is no tax invoice: it was made before the seller was set.</p>
          <dl className="facts" data-document={number}>
            <dt>Billed to</dt>
            <dd>
              <Name>{buyer.name}</Name>, <Name>{buyer.email}</Name>
            </dd>
            <dt>Plan</dt>
            <dd className="plan">{invoice.plan}</dd>
            <dt>Period</dt>
            <dd>
              <Day at={invoice.periodStartsAt} /> to <Day at={invoice.periodEndsAt} />
            </dd>
            <dt>To be paid by</dt>
            <dd>
              <Day at={invoice.dueAt} />
            </dd>
          </dl>
        </Section>
      )}
      <p>
        <a href="/admin/billing/unallocated">See payments that wait</a>
      </p>
    </StaffPage>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct } from '../act-forms.ts';
import { DocumentSheet, nameOf } from '../components/account/document-sheet.tsx';
import { InvoiceState } from '../components/account/invoices.tsx';
import { OldInvoice } from '../components/account/old-invoice.tsx';
import { Files } from '../components/account/own-documents.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { buildTitle } from '../components/service-name.ts';
import { Refusal } from '../components/staff/act-form.tsx';
import { InvoiceActs, InvoiceMoney } from '../components/staff/invoice-money.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, personPath } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

/** The forms are the browser's own: no script keeps what is shown of people. */
export const handle = { isStatic: true };

export const meta: MetaFunction<typeof loader> = ({ data, params, matches }) => [
  { title: buildTitle(data ? nameOf(data.found) : `Invoice ${params.number}`, matches) },
];

export async function loader(args: LoaderFunctionArgs) {
  const { transport } = args.context;
  const number = args.params.number ?? '';
  const loaded = await loadForStaff(args, async (procedures) => ({
    found: await procedures.booksForms.document({ number }),
  }));
  return { ...loaded, saved: transport.readQuery(args.request).get('saved') };
}

export const action = (args: ActionFunctionArgs) =>
  answerAct(args, 'invoice', { number: args.params.number ?? '' });

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
  ['reissue', 'The invoice is credited, and a new one is issued.'],
]);

export default function InvoicePage() {
  const { who, found, saved } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const { number, buyer, document, minorDigits, hasXml } = found;
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
  const invoice = found.kind === 'invoice' ? found : undefined;
  const outcome = outcomes.get(saved ?? '');
  const isSaidAtForm = invoice?.mayChange && buttons.has(refused?.values.intent ?? '');
  return (
    <StaffPage
      title={nameOf(found)}
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
          {invoice && <InvoiceState {...invoice} />}
          {invoice && invoice.open > 0 && (
            <>
              {' '}
              <Money {...invoice} unitAmount={invoice.open} /> to pay
            </>
          )}
        </>
      }
      who={who}
      current="/admin/billing"
    >
      {!refused && outcome && (
        <Notice kind="success" focus>
          {outcome}
        </Notice>
      )}
      {refused && !isSaidAtForm && <Refusal refused={refused} />}
      {invoice?.replacement && (
        <Notice kind="info">
          This invoice was credited and issued again as{' '}
          <a href={`/admin/invoices/${invoice.replacement}`}>Invoice {invoice.replacement}</a>. The credit
          note is below.
        </Notice>
      )}
      {invoice?.mayChange && <InvoiceActs invoice={invoice} refused={refused} />}
      {invoice && !invoice.mayChange && (
        <Notice kind="info">
          This invoice is of your own account. Ask another administrator to change something about it.
        </Notice>
      )}
      {invoice && document && !document.buyer.address && invoice.status !== 'void' && (
        <Notice kind="warning">
          The buyer’s address is missing, so there is no XML. Ask the customer to add it under Billing.{' '}
          {invoice.credited === 0
            ? 'Then issue the invoice again.'
            : 'This invoice cannot be issued again, because a part of it is credited. You can credit the rest; the next invoice has the address.'}
        </Notice>
      )}
      {document && (
        <DocumentSheet facts={document} minorDigits={minorDigits} invoice={invoice} path="/admin/invoices" />
      )}
      {!document && invoice && (
        <OldInvoice invoice={{ ...invoice, buyerName: buyer.name, buyerEmail: buyer.email }} />
      )}
      {document && (
        <div className="actions">
          <Files path="/admin/invoices" number={number} name={nameOf(found)} hasXml={hasXml} />
        </div>
      )}
      {invoice && <InvoiceMoney invoice={invoice} />}
    </StaffPage>
  );
}

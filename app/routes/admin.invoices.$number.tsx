import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { DocumentSheet, nameOf } from '../components/account/document-sheet.tsx';
import { InvoiceState } from '../components/account/invoices.tsx';
import { Files } from '../components/account/own-documents.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Section } from '../components/section.tsx';
import { buildTitle } from '../components/service-name.ts';
import { Acts, askBefore, Outcome } from '../components/staff/acts.tsx';
import { InvoiceMoney } from '../components/staff/invoice-money.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, personPath } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta: MetaFunction<typeof loader> = ({ data, params, matches }) => [
  { title: buildTitle(data ? nameOf(data.found) : `Invoice ${params.number}`, matches) },
];

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({
    found: await procedures.booksForms.document({ number: args.params.number ?? '' }),
    outcome: await loadOutcome(args, 'invoice'),
  }));

export const action = (args: ActionFunctionArgs) =>
  answerAct(args, 'invoice', () => ({ number: args.params.number ?? '' }));

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function InvoicePage() {
  const { who, found, outcome } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const { number, buyer, document, minorDigits, hasXml } = found;
  const forms = 'forms' in found ? found.forms : [];
  const asks = askBefore(refused, { forms, about: number });
  if (asks) return asks;
  const invoice = found.kind === 'invoice' ? found : undefined;
  return (
    <StaffPage
      title={nameOf(found)}
      intro={
        <>
          For{' '}
          {buyer.userId ? (
            <a href={`${personPath(buyer.userId)}/billing`}>
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
      current={who.role === 'admin' ? '/admin/billing' : '/admin/people'}
    >
      <Outcome forms={forms} outcome={outcome} />
      {invoice?.replacement && (
        <Notice kind="info">
          This invoice was credited and issued again as{' '}
          <a href={`/admin/invoices/${invoice.replacement}`}>Invoice {invoice.replacement}</a>. The credit
          note is below.
        </Notice>
      )}
      {forms.length > 0 && (
        <Section id="acts" title="Change something" bare>
          <Acts forms={forms} />
          {invoice && (
            <p className="actions">
              <a href={`/admin/billing/unallocated${invoice.open > 0 ? `?number=${number}` : ''}`}>
                {invoice.open > 0 ? 'Look for its payment' : 'Look for money paid too much'} among unallocated
                payments
              </a>
              {buyer.userId && (
                <a href={`${personPath(buyer.userId)}/billing?edit=edit-billing-details#billing`}>
                  Change the billing details
                </a>
              )}
            </p>
          )}
        </Section>
      )}
      {invoice && !invoice.mayChange && (
        <Notice kind="info">
          {who.role === 'admin'
            ? 'This invoice is of your own account. Ask another administrator to change something about it.'
            : 'Ask an administrator to record a payment, credit this invoice or issue it again.'}
        </Notice>
      )}
      {invoice && document && !document.buyer.address && invoice.status !== 'void' && (
        <Notice kind="warning">
          The buyer’s address is missing, so there is no XML.{' '}
          {invoice.credited === 0
            ? 'Issue the invoice again with it.'
            : 'Add it to the billing details of the person. This invoice cannot be issued again, because a part of it is credited. You can credit the rest; the next invoice has the address.'}
        </Notice>
      )}
      {document && (
        <DocumentSheet facts={document} minorDigits={minorDigits} invoice={invoice} path="/admin/invoices" />
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

import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { DocumentSheet, type OwnInvoice, Settled } from '../components/account/document-sheet.tsx';
import { InvoiceState } from '../components/account/invoices.tsx';
import { Files } from '../components/account/own-documents.tsx';
import { HowToPay, PayLink } from '../components/account/to-pay.tsx';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { buildTitle } from '../components/service-name.ts';
import { loginOr } from '../log-in-first.ts';

export const meta: MetaFunction<typeof loader> = ({ data, params, matches }) => [
  { title: buildTitle(data ? nameOf(data.found) : `Invoice ${params.number}`, matches) },
];

export async function loader({ request, params, context }: LoaderFunctionArgs) {
  const { procedures, transport } = context;
  // So that one invoice has one address.
  if (!/^([1-9]\d{0,14}|[A-Z0-9-]{1,12}\d{4}-\d{4,15})$/.test(params.number ?? '')) transport.notFound();
  try {
    return { found: await procedures.invoices.get({ number: params.number ?? '' }) };
  } catch (error) {
    throw await loginOr(error, { request, context });
  }
}

const nameOf = ({ kind, number }: { kind: 'invoice' | 'credit_note'; number: string }) =>
  `${kind === 'invoice' ? 'Invoice' : 'Credit note'} ${number}`;

export default function DocumentPage() {
  const { found } = useLoaderData<typeof loader>();
  const { number, document, minorDigits, hasXml } = found;
  const invoice = found.kind === 'invoice' ? found : undefined;
  const name = nameOf(found);
  return (
    <Page title={name} wide>
      {document && <DocumentSheet facts={document} minorDigits={minorDigits} invoice={invoice} />}
      {!document && invoice && <OldInvoice invoice={invoice} />}
      {invoice && invoice.open > 0 && <Pay invoice={invoice} />}
      <div className="actions">
        {document && <Files number={number} name={name} hasXml={hasXml} />}
        <button type="button" className="secondary" onClick={() => window.print()}>
          Print
        </button>
        <a href="/profile/billing">Back to billing</a>
      </div>
    </Page>
  );
}

function Pay({ invoice }: { invoice: OwnInvoice }) {
  const { number, howToPay, payLink, currency, minorDigits, open } = invoice;
  if (!payLink && !howToPay?.text && !howToPay?.iban) return null;
  return (
    <div className="card">
      {howToPay && <HowToPay {...howToPay} reference={number} />}
      {payLink && (
        <p className="pay">
          <PayLink href={payLink} amount={{ currency, minorDigits, unitAmount: open }} number={number} />
        </p>
      )}
    </div>
  );
}

/** From before there was a seller. */
function OldInvoice({ invoice }: { invoice: OwnInvoice }) {
  return (
    <>
      <Notice kind="info">Not a tax invoice</Notice>
      <div className="card sheet" data-document={invoice.number}>
        <dl className="facts">
          <dt>Billed to</dt>
          <dd>
            <bdi>{invoice.buyerName}</bdi>, {invoice.buyerEmail}
          </dd>
          <dt>Date</dt>
          <dd>
            <Day at={invoice.issuedAt} />
          </dd>
          <dt>Status</dt>
          <dd>
            <InvoiceState {...invoice} />
            {invoice.paidAt && (
              <>
                {' on '}
                <Day at={invoice.paidAt} />
              </>
            )}
            {invoice.status === 'open' && (
              <>
                {' due '}
                <Day at={invoice.dueAt} />
              </>
            )}
          </dd>
        </dl>
        <table>
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>
                <span className="plan">{invoice.plan}</span>
                <p className="hint">
                  <Day at={invoice.periodStartsAt} /> to <Day at={invoice.periodEndsAt} />
                </p>
              </td>
              <td>
                <Money {...invoice} />
              </td>
            </tr>
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              <td>
                <Money {...invoice} />
              </td>
            </tr>
            <Settled {...invoice} />
          </tfoot>
        </table>
      </div>
    </>
  );
}

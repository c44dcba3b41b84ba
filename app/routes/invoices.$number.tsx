import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { InvoiceState } from '../components/account/invoices.tsx';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Page } from '../components/page.tsx';
import { buildTitle } from '../components/service-name.ts';
import { loginOr } from '../log-in-first.ts';

export const meta: MetaFunction = ({ params, matches }) => [
  { title: buildTitle(`Invoice ${params.number}`, matches) },
];

export async function loader({ request, params, context }: LoaderFunctionArgs) {
  const { procedures, transport } = context;
  // So that one invoice has one address.
  if (!/^([1-9]\d{0,14}|[A-Z0-9-]{1,12}\d{4}-\d{4,15})$/.test(params.number ?? '')) transport.notFound();
  try {
    return { invoice: await procedures.invoices.get({ number: params.number ?? '' }) };
  } catch (error) {
    throw await loginOr(error, { request, context });
  }
}

export default function InvoicePage() {
  const { invoice } = useLoaderData<typeof loader>();
  return (
    <Page title={`Invoice ${invoice.number}`} intro={`For ${invoice.buyerName}`} wide>
      <div className="card invoice">
        <dl className="facts">
          <dt>Billed to</dt>
          <dd>
            {invoice.buyerName}, {invoice.buyerEmail}
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
          </tfoot>
        </table>
      </div>
      <div className="actions">
        <button type="button" onClick={() => window.print()}>
          Print
        </button>
        <a href="/profile/billing">Back to billing</a>
      </div>
    </Page>
  );
}

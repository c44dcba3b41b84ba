import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { DocumentSheet, nameOf, type OwnInvoice } from '../components/account/document-sheet.tsx';
import { Files } from '../components/account/own-documents.tsx';
import { HowToPay, PayLink } from '../components/account/to-pay.tsx';
import { Page } from '../components/page.tsx';
import { buildTitle } from '../components/service-name.ts';
import { whenLoggedIn } from '../log-in-first.ts';

export const meta: MetaFunction<typeof loader> = ({ data, params, matches }) => [
  { title: buildTitle(data ? nameOf(data.found) : `Invoice ${params.number}`, matches) },
];

export async function loader({ request, params, context }: LoaderFunctionArgs) {
  const { number = '' } = params;
  // Other spellings of the number are refused, so that each invoice has only one URL.
  if (!/^[A-Z0-9-]{1,12}\d{4}-\d{4,15}$/.test(number)) context.transport.notFound();
  return whenLoggedIn({ request, context }, async (procedures) => ({
    found: await procedures.invoices.get({ number }),
  }));
}

export default function DocumentPage() {
  const { found } = useLoaderData<typeof loader>();
  const { number, document, minorDigits, hasXml } = found;
  const invoice = found.kind === 'invoice' ? found : undefined;
  const name = nameOf(found);
  return (
    <Page title={name} wide>
      <DocumentSheet facts={document} minorDigits={minorDigits} invoice={invoice} path="/invoices" />
      {invoice && invoice.open > 0 && <Pay invoice={invoice} />}
      <div className="actions">
        <Files path="/invoices" number={number} name={name} hasXml={hasXml} />
        <button type="button" className="secondary" data-print hidden>
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

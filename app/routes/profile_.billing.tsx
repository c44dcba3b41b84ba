import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Contracts } from '../components/account/contracts.tsx';
import { Invoices } from '../components/account/invoices.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { loadAccount } from '../log-in-first.ts';

export const meta = titled('Billing');

export const loader = (args: LoaderFunctionArgs) =>
  loadAccount(args, async (procedures) => {
    const [contracts, invoices, profile] = await Promise.all([
      procedures.contracts.list(),
      procedures.invoices.list(),
      procedures.profile.get(),
    ]);
    return {
      contracts,
      invoices,
      isVerified: profile.emailVerified,
    };
  });

export default function Billing() {
  const { contracts, invoices, isVerified } = useLoaderData<typeof loader>();
  const isEmpty = contracts.length === 0 && invoices.length === 0;
  return (
    <Page title="Billing" intro="Your contracts and invoices.">
      {isEmpty && <div className="card">{isVerified ? <NothingYet /> : <NotVerified />}</div>}
      {contracts.length > 0 && <Contracts contracts={contracts} />}
      {invoices.length > 0 && <Invoices invoices={invoices} />}
    </Page>
  );
}

function NothingYet() {
  return (
    <EmptyState icon="invoice" title="No contracts or invoices yet">
      <p>When you order one of our products, you will see its contract and invoices here.</p>
    </EmptyState>
  );
}

/** Before the address is proved, the page does not say whether there are contracts or invoices. */
function NotVerified() {
  return (
    <EmptyState icon="mail" title="Verify your email address first">
      <p>We only show contracts and invoices once we know that the address is yours.</p>
      <p>
        <a className="button" href="/verify-email">
          Verify it now
        </a>
      </p>
    </EmptyState>
  );
}

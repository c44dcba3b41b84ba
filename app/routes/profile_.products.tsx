import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { DeletionNotice } from '../components/account/deletion-notice.tsx';
import { Products } from '../components/account/products.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { loadAccount } from '../log-in-first.ts';

export const meta = titled('Products');

export function loader(args: LoaderFunctionArgs) {
  const { findInitial } = args.context.site;
  return loadAccount(args, async (procedures) => {
    const [products, profile] = await Promise.all([procedures.products.list(), procedures.profile.get()]);
    const shown = products.map((product) => ({ ...product, initial: findInitial(product.title) }));
    return { products: shown, isVerified: profile.emailVerified, deletionDueAt: profile.deletionDueAt };
  });
}

export default function ProductsPage() {
  const { products, isVerified, deletionDueAt } = useLoaderData<typeof loader>();
  return (
    <Page
      title="Products"
      intro="Each time you open a product, we send it your name, email address, role and what you can do. Products never see your password."
    >
      <DeletionNotice dueAt={deletionDueAt} />
      {!isVerified && (
        <Notice kind="warning">
          You need to verify your email address before you can open our products.{' '}
          <a href="/verify-email">Verify it now</a>
        </Notice>
      )}
      <Products products={products} />
    </Page>
  );
}

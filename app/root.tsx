import type { LinksFunction, LoaderFunctionArgs } from '@remix-run/node';
import { Links, Meta, Outlet } from '@remix-run/react';
import type { ReactNode } from 'react';
import { findAccountPage } from './components/account/account-pages.ts';
import enhance from './enhance.js?url';
import { type Args, pagePath } from './refused.ts';
import { type RootData, useRootData } from './root-data.ts';
import styles from './styles/app.css?url';

export const links: LinksFunction = () => [{ rel: 'stylesheet', href: styles }];

export async function loader({ request, context }: LoaderFunctionArgs): Promise<RootData> {
  const visitor = await findVisitor(context);
  return {
    ...context.site.frame,
    email: visitor?.email,
    isStaff: visitor?.isStaff,
    timeZone: visitor?.timeZone ?? undefined,
    refused: context.refused,
    hasOverdue: visitor !== undefined && visitor !== null && (await findOverdue({ request, context })),
  };
}

/** Returns whether an invoice is overdue. Outside the pages of the account, it is always false. */
async function findOverdue({ request, context }: Args): Promise<boolean> {
  const { procedures, problem } = context;
  if (problem || findAccountPage(pagePath(request)) === undefined) return false;
  return procedures.billingPages.hasOverdue();
}

/**
 * Problem pages must render even if the database is down. So only the page of a 404 looks up the visitor, and it ignores
 * errors.
 */
async function findVisitor({ procedures, visit, problem, isPublic }: LoaderFunctionArgs['context']) {
  if (isPublic) return undefined;
  if (!problem) return procedures.visitor.find();
  if (problem.status !== 404) return undefined;
  return visit.deadline.enforce(procedures.visitor.find()).catch(() => undefined);
}

/** No React runs in the browser (contract 9.360), so there are no `<Scripts>`. */
export function Layout({ children }: { children: ReactNode }) {
  const root = useRootData();
  return (
    <html lang="en" data-time-zone={root?.timeZone}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <Meta />
        <Links />
        {root?.icons.map((icon) => (
          <link key={icon.href} rel="icon" {...icon} />
        ))}
        {root?.stylesPath && <link rel="stylesheet" href={root.stylesPath} />}
        <script type="module" src={enhance} />
      </head>
      <body>{children}</body>
    </html>
  );
}

export default function App() {
  return <Outlet />;
}

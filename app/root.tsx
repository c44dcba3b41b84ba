import type { LinksFunction, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { Links, Meta, Outlet, Scripts, ScrollRestoration, useMatches } from '@remix-run/react';
import { type ReactNode, useContext } from 'react';
import { NonceContext } from './components/nonce.ts';
import { Page } from './components/page.tsx';
import { unknownName } from './components/service-name.ts';
import favicon from './favicon.svg?url';
import styles from './styles/app.css?url';

export const links: LinksFunction = () => [
  { rel: 'stylesheet', href: styles },
  { rel: 'icon', href: favicon, type: 'image/svg+xml' },
];

export const meta: MetaFunction<typeof loader> = ({ data }) => [{ title: data?.name ?? unknownName }];

export async function loader({ request, context }: LoaderFunctionArgs) {
  const session = await findSession(request, context);
  const { name, supportUrl, privacyUrl, termsUrl } = context.backend.config;
  return { name, supportUrl, privacyUrl, termsUrl, email: session?.user.email };
}

/** A problem page must render even when the database is down: only that of a 404 reads anything, and can do without. */
async function findSession(request: Request, { backend, visit, problem }: LoaderFunctionArgs['context']) {
  if (!problem) return backend.findSession(request, visit);
  if (problem.status !== 404) return undefined;
  return visit.deadline.enforce(backend.findSession(request, visit)).catch(() => undefined);
}

export function Layout({ children }: { children: ReactNode }) {
  const nonce = useContext(NonceContext);
  const matches = useMatches();
  // Pages that need no script, or that appear under another route’s URL and so cannot hydrate.
  const isStatic = matches.some(({ handle }) => (handle as { isStatic?: boolean } | undefined)?.isStatic);
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <Meta />
        <Links />
      </head>
      <body>
        {children}
        {!isStatic && <ScrollRestoration nonce={nonce} />}
        {!isStatic && <Scripts nonce={nonce} />}
      </body>
    </html>
  );
}

export default function App() {
  return <Outlet />;
}

/** Only for a page that is already open in the browser: the shell answers everything else. */
export function ErrorBoundary() {
  return (
    <Page title="Sorry, something went wrong">
      <p>Nothing has been lost. Reload the page to try again.</p>
      <p>
        <a className="button" href="/profile">
          Go to your profile
        </a>
      </p>
    </Page>
  );
}

import type { LinksFunction, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { renderReference } from '../components/api/reference.server.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import styles from '../styles/reference.css?url';

/** To be read: it needs no script. */
export const handle = { isStatic: true };

export const links: LinksFunction = () => [{ rel: 'stylesheet', href: styles }];

export const meta = titled('API reference');

export async function loader({ context }: LoaderFunctionArgs) {
  const document = await context.backend.describeApi();
  return { summary: document.info.summary, html: renderReference(document) };
}

export default function ApiReference() {
  const { summary, html } = useLoaderData<typeof loader>();
  return (
    <Page title="API reference" intro={summary} wide>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: made by React, from our own document */}
      <div dangerouslySetInnerHTML={{ __html: html }} />
    </Page>
  );
}

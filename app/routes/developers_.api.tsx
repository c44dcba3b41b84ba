import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { renderReference } from '../components/api/reference.server.tsx';
import { Contents } from '../components/developers/contents.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { loadDeveloperMenu } from '../developers/load-page.server.ts';
import developerStyles from '../styles/developers.css?url';
import styles from '../styles/reference.css?url';

export const handle = { isPublic: true };

export const links = () => [developerStyles, styles].map((href) => ({ rel: 'stylesheet', href }));

export const meta = titled('API reference');

export async function loader({ context }: LoaderFunctionArgs) {
  const document = await context.site.describeApi();
  const menu = await loadDeveloperMenu();
  return { summary: document.info.summary, html: renderReference(document), menu };
}

export default function ApiReference() {
  const { summary, html, menu } = useLoaderData<typeof loader>();
  const contents = <Contents menu={menu} current="/developers/api" sections={[]} />;
  return (
    <Page title="API reference" intro={summary} wide nav={contents}>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: made by React, from our own document */}
      <div dangerouslySetInnerHTML={{ __html: html }} />
    </Page>
  );
}

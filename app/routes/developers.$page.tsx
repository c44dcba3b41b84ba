import type { LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Contents } from '../components/developers/contents.tsx';
import { Downloads } from '../components/developers/downloads.tsx';
import { Page } from '../components/page.tsx';
import { buildTitle } from '../components/service-name.ts';
import copyScript from '../developers/copy.js?url';
import { loadDeveloperPage } from '../developers/load-page.server.ts';
import styles from '../styles/developers.css?url';

export const handle = { isPublic: true };

export const links = () => [{ rel: 'stylesheet', href: styles }];

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  { title: buildTitle(data?.title ?? 'Developers', matches) },
];

export const loader = ({ params, context }: LoaderFunctionArgs) =>
  loadDeveloperPage(params.page ?? '', context);

export default function Developers() {
  const { path, title, intro, text, sections, menu, downloads } = useLoaderData<typeof loader>();
  return (
    <Page title={title} wide nav={<Contents menu={menu} current={path} sections={sections} />}>
      <Document html={intro} />
      {downloads.length === 1 && <Downloads files={downloads} />}
      <Document html={text} />
      {downloads.length > 1 && <Downloads files={downloads} />}
      <script type="module" src={copyScript} />
    </Page>
  );
}

function Document({ html }: { html: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: our own documents, made into HTML at build time.
  return <div className="document" dangerouslySetInnerHTML={{ __html: html }} />;
}

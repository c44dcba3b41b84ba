import type { MetaFunction } from '@remix-run/node';
import copyScript from '../../developers/copy.js?url';
import type { loadDeveloperPage } from '../../developers/load-page.server.ts';
import styles from '../../styles/developers.css?url';
import { Page } from '../page.tsx';
import { buildTitle } from '../service-name.ts';
import { Contents } from './contents.tsx';
import { Downloads } from './downloads.tsx';

type DeveloperPageProps = Awaited<ReturnType<typeof loadDeveloperPage>>;

export const developerLinks = () => [{ rel: 'stylesheet', href: styles }];

export const developerMeta: MetaFunction = ({ data, matches }) => [
  { title: buildTitle((data as DeveloperPageProps | undefined)?.title ?? 'Developers', matches) },
];

export function DeveloperPage({ path, title, intro, text, sections, menu, downloads }: DeveloperPageProps) {
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

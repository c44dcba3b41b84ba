// What /developers publishes: documents for engineers of clients, and files to download. Documents for operators and for
// engineers of this service stay in the repository.

import type { Folder } from './archive.ts';

export type PublishedDocument = {
  /** The last part of the path. Empty for the start page. */
  slug: string;
  file: string;
  group: string;
  /** The name in the table of contents, if it differs from the title. */
  name?: string;
  /** Only for a kit: the file to download, and the program that the end of the kit's page shows. */
  archive?: string;
  example?: string;
};

const starts = 'Start';
const kits = 'Kits';
const guides = 'Guides';
const reference = 'Reference';
const contract = 'Contract';

const archiveOf = (language: string) => `identity-client-${language}.zip`;
const pluginArchive = 'identity-login-wordpress.zip';

const describeKit = (name: string, example: string): PublishedDocument => {
  const language = name.toLowerCase();
  return {
    slug: language,
    name,
    file: `clients/${language}/README.md`,
    group: kits,
    archive: archiveOf(language),
    example: `clients/${language}/${example}`,
  };
};

/** Describes a section of the contract. The slug of section 9 is `contract-9`. */
const describeSection = (file: string, name: string): PublishedDocument => {
  const section = Number.parseInt(file, 10);
  return {
    slug: `contract-${section}`,
    name: `${section}. ${name}`,
    file: `docs/contract/${file}.md`,
    group: contract,
  };
};

/** The documents in the order of the table of contents. */
export const documents: PublishedDocument[] = [
  { slug: '', file: 'docs/developers.md', group: starts },
  describeKit('TypeScript', 'example.mjs'),
  describeKit('PHP', 'example.php'),
  describeKit('Python', 'example.py'),
  {
    slug: 'wordpress',
    name: 'WordPress',
    file: 'clients/wordpress/README.md',
    group: kits,
    archive: pluginArchive,
  },
  { slug: 'integrate', file: 'docs/integrate.md', group: guides },
  { slug: 'openid', file: 'docs/openid.md', group: guides },
  { slug: 'events', file: 'docs/events.md', group: guides },
  { slug: 'doctor', file: 'docs/doctor.md', group: guides },
  { slug: 'crm', file: 'docs/crm.md', group: guides },
  { slug: 'payments', file: 'docs/payments.md', group: guides },
  { slug: 'migrate', file: 'docs/migrate.md', group: guides },
  { slug: 'refusals', file: 'docs/refusals.md', group: reference },
  { slug: 'glossary', file: 'docs/inside/glossary.md', group: reference },
  { slug: 'contract', name: 'The contract', file: 'docs/contract/README.md', group: contract },
  describeSection('01-what-it-is', 'What it is'),
  describeSection('02-people', 'People and roles'),
  describeSection('03-payload', 'The payload'),
  describeSection('04-launch', 'The launch'),
  describeSection('05-profile', 'The profile'),
  describeSection('06-marketplace', 'The marketplace'),
  describeSection('07-crm', 'The CRM'),
  describeSection('08-settings', 'Settings'),
  describeSection('09-shared-rules', 'Shared rules'),
  describeSection('10-events', 'Events'),
  describeSection('11-names', 'Names'),
  describeSection('14-openid', 'OpenID Connect'),
];

/** A published file is one of three: a source, an archive of folders, or a page for programs that is made from documents. */
export type PublishedFile = { name: string; type: string } & (
  | { source: string }
  | { folders: Folder[] }
  | { documents: PublishedDocument[] }
);

const zip = 'application/zip';

export const files: PublishedFile[] = [
  { name: 'llms.txt', type: 'text/plain; charset=utf-8', documents },
  { name: 'sso-vectors.json', type: 'application/json', source: 'test/sso-vectors.json' },
  ...['typescript', 'php', 'python'].map((language) => ({
    name: archiveOf(language),
    type: zip,
    folders: [[`identity-client-${language}`, `clients/${language}`]] as Folder[],
  })),
  {
    name: pluginArchive,
    type: zip,
    folders: [
      ['identity-login', 'clients/wordpress/identity-login'],
      ['identity-login/kit', 'clients/php/src'],
    ],
  },
];

export const pathOf = (slug: string) => (slug === '' ? '/developers' : `/developers/${slug}`);

const otherAddresses = ['/developers/api', '/openapi.json'];

/**
 * Returns whether `text` is the path of something at this service that everybody can open: a page or file of /developers, or
 * the description of the API.
 */
export const isOwnAddress = (text: string): boolean =>
  otherAddresses.includes(text) ||
  documents.some(({ slug }) => pathOf(slug) === text) ||
  files.some(({ name }) => pathOf(name) === text);

export const exampleTitle = 'The whole example';
const exampleAnchor = '#the-whole-example';

export function findPublished(path: string): string | undefined {
  const document = documents.find(({ file, example }) => [file, example].includes(path));
  if (document) return pathOf(document.slug) + (document.file === path ? '' : exampleAnchor);
  const file = files.find((each) => 'source' in each && each.source === path);
  return file && pathOf(file.name);
}

// /developers/llms.txt has on one page what a program needs to write an integration. Every part is taken from a document that
// people read, so the page cannot contradict the documents.
import { dirname, posix } from 'node:path';
import { findPublished, type PublishedDocument, pathOf } from './published.ts';

/** The parts that come before the kits and after the kits. Each part is named by its file and its heading. */
const first = [
  ['docs/developers.md', 'For developers'],
  ['docs/integrate.md', 'What to agree with the operator'],
] as const;
const last = [
  ['docs/integrate.md', 'Your own session'],
  ['docs/developers.md', 'When a login fails'],
] as const;

export function writeForPrograms(documents: PublishedDocument[], readText: (path: string) => string): string {
  const show = ([file, heading]: readonly [string, string]) => findSection(file, heading, readText(file));
  const kits = documents.flatMap(({ slug, file, name, archive, example }) => {
    if (!name || !archive || !example) return [];
    const code = ['```', posix.extname(example).slice(1), '\n', readText(example), '```'].join('');
    const intro = `The kit is ${pathOf(archive)}, and its guide ${pathOf(slug)}. A whole site with it:`;
    return [`## ${name}`, intro, code, show([file, 'Test without a service'])];
  });
  const links = documents
    .filter(({ slug }) => !slug.startsWith('contract-'))
    .map((document) => `- ${pathOf(document.slug)}: ${document.name ?? findTitle(readText(document.file))}`);
  const parts = [...first.map(show), ...kits, ...last.map(show), `## Read more\n\n${links.join('\n')}`];
  return `${parts.join('\n\n')}\n`;
}

/** The part from this heading to the next heading. Throws if the file does not have this heading. */
function findSection(file: string, heading: string, text: string): string {
  const lines = text.split('\n');
  const from = lines.findIndex((line) => line.replace(/^#+ /, '') === heading && line.startsWith('#'));
  if (from < 0) throw new Error(`${file} has no heading "${heading}".`);
  const length = lines.slice(from + 1).findIndex((line) => /^#+ /.test(line));
  const section = lines.slice(from, length < 0 ? undefined : from + 1 + length).join('\n');
  return withoutPictures(section)
    .replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, (_, words, target) => toLink(file, words, target))
    .trim();
}

const withoutPictures = (text: string) => text.replaceAll(/^!\[[^\]]*\]\([^)]*\)\n+/gm, '');

function toLink(file: string, words: string, target: string): string {
  const [path = '', anchor] = target.split('#');
  const address = /^https?:/.test(target)
    ? target
    : findPublished(path === '' ? file : posix.join(dirname(file), path));
  return address ? `[${words}](${address}${anchor ? `#${anchor}` : ''})` : words;
}

const findTitle = (text: string) => /^# (.+)$/m.exec(text)?.[1] ?? '';

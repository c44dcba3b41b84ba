// Our documents as text: their headings, links, code blocks and the paths that they name.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** `path` is from the root, such as `docs/crm.md`. */
export type Document = { path: string; text: string };

export type CodeBlock = { document: string; language: string; code: string };

export const readOurFile = (path: string) => readFileSync(join(root, path), 'utf8');

/** Returns the names of the folders in a folder of the project. */
export const listFolders = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

export const isOurFile = (path: string) => existsSync(join(root, path));

/** Each Markdown file at the top and in docs/. */
export function readDocuments(): Document[] {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map(
    (name) => `docs/${name.replaceAll('\\', '/')}`,
  );
  return [...readdirSync(root), ...inDocs]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readOurFile(path) }));
}

/** Files that people copy settings from: all documents, the examples of the kits, and files of settings. */
export function readSampleFiles(): Document[] {
  const ofKits = readdirSync(join(root, 'clients'), { recursive: true, encoding: 'utf8' })
    .map((name) => `clients/${name.replaceAll('\\', '/')}`)
    .filter((path) => /\.(?:md|txt)$|\/example\.\w+$/.test(path));
  const inOperate = readdirSync(join(root, 'docs/operate/files')).map((name) => `docs/operate/files/${name}`);
  const files = [...ofKits, ...inOperate, '.env.example', 'compose.yaml'];
  return [...files.map((path) => ({ path, text: readOurFile(path) })), ...readDocuments()];
}

/** All files that we wrote by hand and that may cite the contract. */
export function readAllSources(): Document[] {
  const sources = ['app', 'server', 'db', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((path) => /\.(?:[cm]?[jt]sx?|css)$/.test(path)),
  );
  return [...sources.map((path) => ({ path, text: readOurFile(path) })), ...readDocuments()];
}

const fence = /^( *)(`{3,})([^\n`]*)\n([\s\S]*?)^\1\2 *$/gm;

export function readCodeBlocks({ path, text }: Document): CodeBlock[] {
  return [...text.matchAll(fence)].map(([, , , language = '', code = '']) => ({
    document: path,
    language: language.trim(),
    code,
  }));
}

const withoutBlocks = (text: string) => text.replaceAll(fence, '');

/** Returns the `#anchors` that GitHub makes of the headings. */
export function readAnchors(text: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(text).matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

/** Returns the targets of links and pictures, as written. */
export function readLinks(text: string): string[] {
  const plain = withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '``');
  return [...plain.matchAll(/\]\(([^()\s]+(?:\([^()]*\))?)\)|(?:href|src)="([^"]+)"/g)].map(
    ([, inText, inTag]) => inText ?? inTag ?? '',
  );
}

/** Returns the texts in backticks outside code blocks. */
export function readCodeSpans(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** `title` is how the heading of the section begins, such as `7a`. */
export type ContractSection = Document & { section: number; title: string };

/** Returns the files of the contract. Each section is one file. */
export function readContract(): ContractSection[] {
  return readdirSync(join(root, 'docs/contract'))
    .filter((name) => name !== 'README.md')
    .sort()
    .map((name) => {
      const path = `docs/contract/${name}`;
      const [, title = ''] = /^0?(\d+[a-z]?)-/.exec(name) ?? [];
      return { path, text: readOurFile(path), section: Number.parseInt(name, 10), title };
    });
}

/** A rule of the contract is a line of a list or a row of a table, and begins with its number. */
export const contractRule = /^(?:- \*\*(\d+\.\d+)\*\*|\| (\d+\.\d+) \|) \S/;

/** Returns the numbers of the rules in a text, in the order of the text. */
export function readRules(text: string): string[] {
  return withoutBlocks(text)
    .split('\n')
    .map((line) => contractRule.exec(line))
    .filter((found) => found !== null)
    .map(([, inList, inTable]) => inList ?? inTable ?? '');
}

const flow = (text: string) => text.replaceAll(/\s+(?:(?:\/\/|\*) *)?/g, ' ');

/** Returns the sections of the contract that a text cites: "contract section 7", "contract sections 2 and 3". */
export function readCitedSections(text: string): number[] {
  const cited = /\bcontract (?:section \d+|sections \d+(?:, \d+)*(?: and \d+)?)/gi;
  return [...flow(text).matchAll(cited)].flatMap(([found]) => (found.match(/\d+/g) ?? []).map(Number));
}

/** Returns the rules that a text cites, as in "contract 2.1 to 2.5, 3.4 and 9.14". The contract itself says "rule 9.14". */
export const readCitedRules = (text: string, word?: 'contract' | 'rules?'): string[] =>
  readCitations(text, word).flatMap((numbers) => numbers.match(/\d+\.\d+/g) ?? []);

function readCitations(text: string, word = 'contract'): string[] {
  const cited = new RegExp(`\\b${word} (\\d+\\.\\d+(?:(?:, | and | to )\\d+\\.\\d+)*)`, 'gi');
  return [...flow(text).matchAll(cited)].map(([, numbers = '']) => numbers);
}

/** Returns the rules of the list that a text cites, by their numbers or by a range. */
export function findCited(text: string, rules: string[]): string[] {
  const placeOf = (rule: string) => rule.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
  return readCitations(text).flatMap((numbers) =>
    numbers.split(/, | and /).flatMap((part) => {
      const [first = 0, last = first] = part.split(' to ').map(placeOf);
      return rules.filter((rule) => first <= placeOf(rule) && placeOf(rule) <= last);
    }),
  );
}

/** Returns how many words a text has. A word has a letter. */
export const countWords = (text: string): number => text.match(/\S*[A-Za-z]\S*/g)?.length ?? 0;

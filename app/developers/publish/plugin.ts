// Turns what /developers serves into modules at build time: `virtual:developers` (app/developers/virtual.d.ts). The module of a
// page is loaded when somebody first opens that page. At run time nothing is read from docs/ or clients/.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { buildArchive, type Folder, listFiles } from './archive.ts';
import { writeForPrograms } from './for-programs.ts';
import {
  documents,
  exampleTitle,
  files,
  findPublished,
  isOwnAddress,
  type PublishedDocument,
  type PublishedFile,
  pathOf,
} from './published.ts';
import { type Rendered, renderDocument } from './render.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const name = 'virtual:developers';
const pictureMark = /%picture:([\w./-]+)%/g;

/** The built files. They are kept until a source changes. */
const built = new Map<string, Uint8Array>();
/** False in development, because compiling a kit would make a request wait for seconds. */
let compiles = true;

export function developers(): Plugin {
  return {
    name: 'developers',
    configResolved({ command }) {
      compiles = command === 'build';
    },
    watchChange: () => built.clear(),
    resolveId: (id) => (id === name || id.startsWith(`${name}/`) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${name}`)) return undefined;
      const [, kind, key = ''] = id.slice(name.length + 1).split('/');
      for (const path of listSources()) this.addWatchFile(join(root, path));
      if (kind === 'page') return writePage(key);
      if (kind === 'file') return writeFile(key);
      return writeContents();
    },
  };
}

function listSources(): string[] {
  const folders = files.flatMap((file) =>
    'folders' in file ? file.folders.map(([, source]) => source) : [],
  );
  return [
    ...documents.map(({ file }) => file),
    ...files.flatMap((file) => ('source' in file ? [file.source] : [])),
    ...folders.flatMap((folder) => listFiles(join(root, folder)).map((path) => `${folder}/${path}`)),
  ];
}

function writeContents(): string {
  const pages = documents.map((document) => {
    const { slug, group, name: short, archive } = document;
    const facts = { slug, path: pathOf(slug), group, name: short ?? render(document).title, archive };
    return writeEntry(facts, `page/${keyOfPage(slug)}`);
  });
  const published = files.map((file) => {
    const bytes = readBytes(file);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const facts = { name: file.name, type: file.type, size: bytes.length, sha256 };
    return writeEntry(facts, `file/${keyOfFile(file.name)}`);
  });
  return `export const pages = [${pages.join(',\n')}];\nexport const files = [${published.join(',\n')}];\n`;
}

const writeEntry = (facts: object, module: string) =>
  `{ ...${JSON.stringify(facts)}, load: () => import('${name}/${module}').then((loaded) => loaded.default) }`;

// A key has no file extension, because it becomes a part of a module's name. With an extension, other plugins would treat the
// module as a file of that kind.
const keyOfPage = (slug: string) => slug || 'start';
const keyOfFile = (fileName: string) => fileName.replace(/\.\w+$/, '');

/** The module imports the URLs of pictures, because the build chooses these URLs. */
function writePage(key: string): string {
  const document = documents.find(({ slug }) => keyOfPage(slug) === key);
  if (!document) throw new Error(`There is no document for ${key}.`);
  const { title, html, sections } = render(document);
  const pictures = [...new Set([...html.matchAll(pictureMark)].map(([, path]) => path ?? ''))];
  const imports = pictures.map((path, at) => `import picture${at} from '/${path}?url';`);
  const text = JSON.stringify(html).replaceAll(
    pictureMark,
    (_, path) => `" + picture${pictures.indexOf(path)} + "`,
  );
  const facts = `title: ${JSON.stringify(title)}, sections: ${JSON.stringify(sections)}`;
  return `${imports.join('\n')}\nexport default { ${facts}, html: ${text} };\n`;
}

function render({ file, example }: PublishedDocument): Rendered {
  const end = example
    ? `\n\n## ${exampleTitle}\n\n[${example}](${posix.relative(dirname(file), example)})\n`
    : '';
  return renderDocument(file, readText(file) + end, {
    findPublished,
    readText,
    findPicture: (path) => (existsSync(join(root, path)) ? `%picture:${path}%` : undefined),
    isOwnAddress,
  });
}

const readText = (path: string) => readFileSync(join(root, path), 'utf8');

function writeFile(key: string): string {
  const file = files.find((each) => keyOfFile(each.name) === key);
  if (!file) throw new Error(`There is no file for ${key}.`);
  return `export default ${JSON.stringify(Buffer.from(readBytes(file)).toString('base64'))};`;
}

function readBytes(file: PublishedFile): Uint8Array {
  const bytes = built.get(file.name) ?? buildFile(file, compiles);
  built.set(file.name, bytes);
  return bytes;
}

/** The content of a published file. With `compiles`, an archive also has the compiled files of its kit. */
export function buildFile(file: PublishedFile, compiles = true): Uint8Array {
  if ('source' in file) return readFileSync(join(root, file.source));
  if ('documents' in file) return Buffer.from(writeForPrograms(file.documents, readText));
  const folders = file.folders.map(([inArchive, source]): Folder => [inArchive, join(root, source)]);
  return buildArchive(folders, compiles);
}

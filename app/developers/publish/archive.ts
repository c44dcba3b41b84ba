// The download of a kit: a zip whose bytes depend only on the files in it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Zippable, zipSync } from 'fflate';
import { compileKit } from './compile.ts';

const encoder = new TextEncoder();

/** The archive leaves out tests, files that tools left behind, and files that are copied from elsewhere. */
const isLeftOut = (name: string) =>
  name.startsWith('.') || ['__pycache__', 'node_modules', 'dist', 'kit', 'tests'].includes(name);

/** The paths of the folder's files, in the same order on every machine. Symbolic links are left out. */
export function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !isLeftOut(name))
    .flatMap((entry) => {
      if (entry.isDirectory())
        return listFiles(join(folder, entry.name)).map((path) => `${entry.name}/${path}`);
      return entry.isFile() ? [entry.name] : [];
    })
    .sort((one, other) => (one < other ? -1 : 1));
}

/** A folder in the archive, and the folder that its files come from. */
export type Folder = [inArchive: string, source: string];

/** With `compiles`, the archive also has the compiled files of each folder with a tsconfig.json. */
export function buildArchive(folders: Folder[], compiles = true): Uint8Array {
  const content: Zippable = {};
  for (const [inArchive, source] of folders) {
    for (const path of listFiles(source))
      content[`${inArchive}/${path}`] = new Uint8Array(readFileSync(join(source, path)));
    if (!compiles || !existsSync(join(source, 'tsconfig.json'))) continue;
    for (const [path, text] of compileKit(source)) content[`${inArchive}/${path}`] = encoder.encode(text);
  }
  // A fixed time, because with the real time each build would produce different bytes. A zip cannot store a local time before
  // 1980. This time is after the beginning of 1980 in every time zone.
  return zipSync(content, { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 });
}

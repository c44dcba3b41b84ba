// Finds files, and reads and writes them in bounded memory.
import { once } from 'node:events';
import { createReadStream, createWriteStream, fstatSync, readFileSync, statSync } from 'node:fs';
import { mkdir, open, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { args, environment, nobodyReads, processUser } from './process.ts';

// The root is two folders up, for the source (server/runtime/) and for the build (build/service/).
const rootFolder = fileURLToPath(new URL('../../', import.meta.url));

export const buildFolder = `${rootFolder}build`;

/** The default folder of the embedded database. git ignores it. */
export const dataFolder = `${rootFolder}.data`;

/** Returns the built script of a thread, such as `document-thread`. Returns undefined if the service runs from source. */
export const findThread = (name: string): URL | undefined =>
  import.meta.url.endsWith('.ts') ? undefined : new URL(`./${name}.js`, import.meta.url);

export const defaultFontFile = `${rootFolder}node_modules/dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf`;

/** Returns undefined if the path cannot be read, is not a file, or is larger than `maxBytes`. */
export function readSmallFile(path: string, maxBytes: number): Uint8Array<ArrayBuffer> | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxBytes ? new Uint8Array(readFileSync(path)) : undefined;
  } catch {
    return undefined;
  }
}

/** The message is printed as one sentence, without a stack. */
export class FileError extends Error {}

/** Resolves a path from the command line. npm and `identity` change the folder, and pass the original folder in CLI_FOLDER. */
export const locate = (path: string): string => resolve(environment.CLI_FOLDER || '.', path);

/** Files that `identity` opened as root, by the argument that names each of them (docs/operate/files/identity). */
const opened = readOpened(environment.CLI_FILES);

function readOpened(pairs: string | undefined): Map<string | undefined, number> | undefined {
  const numbers = pairs
    ?.split(' ')
    .filter(Boolean)
    .map((pair) => pair.split(':').map(Number));
  return (
    numbers && new Map(numbers.map(([at = Number.NaN, descriptor = Number.NaN]) => [args[at], descriptor]))
  );
}

function openStream(path: string) {
  const fd = opened?.get(path);
  // Each stream starts at the beginning, because a command may read a file twice.
  return fd === undefined
    ? createReadStream(locate(path))
    : createReadStream('', { fd, start: 0, autoClose: false });
}

const statArgument = async (path: string, options?: { bigint: true }) => {
  const fd = opened?.get(path);
  return fd === undefined ? stat(locate(path), options) : fstatSync(fd, options);
};

/** `-` means standard input. Throws a FileError if the file cannot be read. */
export const readBytes = (path: string): AsyncGenerator<Uint8Array, void> =>
  readStream(path === '-' ? process.stdin : openStream(path), path);

/** Throws a FileError if the file cannot be read or is larger than `maxKibibytes`. */
export async function readWhole(path: string, maxKibibytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of readBytes(path)) {
    length += chunk.length;
    if (length > maxKibibytes * 1_024) {
      const most = maxKibibytes < 1_024 ? `${maxKibibytes} KiB` : `${maxKibibytes / 1_024} MiB`;
      throw new FileError(`The file ${locate(path)} is larger than ${most}.`);
    }
    chunks.push(chunk as Uint8Array<ArrayBuffer>);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

async function* readStream(stream: Readable, path: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* stream;
  } catch (error) {
    throw cannotRead(path, error);
  }
}

function cannotRead(path: string, error: unknown): FileError {
  const { code } = error as { code?: string };
  // The script `identity` opens files as root, and found no file with this path. So this reports ENOENT. EACCES would be
  // misleading, because it says only that we may not enter the folder.
  return refuseFile('read', path, opened && code === 'EACCES' ? 'ENOENT' : code);
}

function refuseFile(what: 'read' | 'write', path: string, code: string | undefined): FileError {
  const whys: Record<string, string> = {
    EACCES: `the user ${processUser()} may not`,
    EEXIST: 'there is such a file already',
    EISDIR: 'it is a folder',
    ENOENT: what === 'read' ? 'there is no such file' : 'there is no such folder',
    EROFS: 'this file system takes no files',
  };
  const why = code && code in whys ? `: ${whys[code]}` : '';
  return new FileError(`Cannot ${what} the file ${locate(path)}${why} (${code}).`);
}

/** Throws a FileError if the file cannot be read. */
export async function openLines(path: string, maxLength: number) {
  const found = await statArgument(path).catch((error) => {
    throw cannotRead(path, error);
  });
  // Callers make another file beside this file. Before that, they must learn if this path is wrong.
  if (found.isDirectory()) throw cannotRead(path, { code: 'EISDIR' });
  const stream = openStream(path);
  const size = Number(found.size);
  return { lines: splitLines(readStream(stream, path), maxLength), size, bytesRead: () => stream.bytesRead };
}

const newLine = 0x0a;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Only `\n` ends a line. A line longer than `maxLength` is cut, but stays long enough to show that it was too long. */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLength: number,
): AsyncGenerator<Uint8Array, void> {
  let line = new Uint8Array();
  let isFirst = true;
  const end = () => {
    const ended = isFirst && byteOrderMark.every((byte, at) => line[at] === byte) ? line.subarray(3) : line;
    line = new Uint8Array();
    isFirst = false;
    return ended;
  };
  for await (const chunk of chunks) {
    for (let from = 0; from <= chunk.length; ) {
      const found = chunk.indexOf(newLine, from);
      const to = found < 0 ? chunk.length : found;
      line = append(line, chunk.subarray(from, Math.min(to, from + maxLength + 1 - line.length)));
      if (found >= 0) yield end();
      from = to + 1;
    }
  }
  yield end();
}

function append(one: Uint8Array<ArrayBuffer>, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** Throws a FileError if `path` is one of the other files, under any name. The files need not exist. */
export async function requireOtherFile(
  path: string,
  others: { path: string; which: string }[],
): Promise<void> {
  const own = await identifyFile(path);
  for (const other of others)
    if ((await identifyFile(other.path)) === own) throw new FileError(`The file ${path} is ${other.which}.`);
}

const maxLinks = 40;

/** Returns the same text for all names of one file, even if the file does not exist yet. */
async function identifyFile(path: string, links = 0): Promise<string> {
  const found = await identify(path);
  if (found) return found;
  const target = await readlink(locate(path)).catch(() => undefined);
  // If the target of a link is missing, writing to the link creates it.
  if (target !== undefined && links < maxLinks)
    return identifyFile(isAbsolute(target) ? target : `${dirname(path)}/${target}`, links + 1);
  return `${(await identify(dirname(path))) ?? dirname(path)}/${basename(path)}`;
}

async function identify(path: string): Promise<string | undefined> {
  const found = await statArgument(path, { bigint: true }).catch(() => undefined);
  return found && `${found.dev}:${found.ino}`;
}

export type LineWriter = { write: (line: string) => Promise<void>; close: () => Promise<void> };

/** Throws a FileError if the file cannot be written, or exists. */
export async function writeNewFile(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(locate(path), bytes, { flag: 'wx' }).catch(({ code }) => {
    throw refuseFile('write', path, code);
  });
}

/**
 * Writes a new file that only its owner may read, and returns when it is on the disk. Throws a FileError if the file cannot be
 * written, or exists.
 */
export async function writeSecretFile(path: string, text: string): Promise<{ remove: () => Promise<void> }> {
  const whole = locate(path);
  const cannotWrite = ({ code }: { code?: string }) => refuseFile('write', path, code);
  const file = await open(whole, 'wx', 0o600).catch((error) => {
    throw cannotWrite(error);
  });
  const remove = () => rm(whole, { force: true });
  try {
    await file.writeFile(text);
    await file.sync();
    // Without a sync of the folder, a crash of the machine could lose the name of the file.
    const folder = await open(dirname(whole), 'r');
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await remove();
    throw cannotWrite(error as { code?: string });
  } finally {
    await file.close();
  }
  return { remove };
}

/** Replaces the file. A write waits for a slow disk. Throws a FileError if the file cannot be written. */
export async function openLineWriter(path: string): Promise<LineWriter> {
  const stream = createWriteStream(locate(path));
  const cannotWrite = ({ code }: Error & { code?: string }) => refuseFile('write', path, code);
  await once(stream, 'open').catch((error) => {
    throw cannotWrite(error);
  });
  return {
    write: buildLineWrite(stream, cannotWrite),
    close: () => new Promise<void>((done) => stream.end(done)),
  };
}

/** Writes to standard output, which stays open. A write waits for a slow reader. */
export function writeLinesOut(): LineWriter {
  const isGone = () => new FileError(nobodyReads);
  return { write: buildLineWrite(process.stdout, isGone), close: async () => undefined };
}

function buildLineWrite(stream: Writable, describe: (error: Error) => FileError) {
  // Without a listener, an error would end the process. Each write reports the error itself.
  stream.on('error', () => undefined);
  return (line: string) =>
    new Promise<void>((done, failed) =>
      stream.write(`${line}\n`, (error) => (error ? failed(describe(error)) : done())),
    );
}

/** Makes the folder if it is missing. Throws a FileError if that fails or the folder is not empty. */
export async function requireEmptyFolder(path: string): Promise<void> {
  const names = await readdir(await makeFolder(path)).catch(refuseFolder(path));
  if (names.length > 0) throw new FileError(`The folder ${path} is not empty. Name another one.`);
}

/** Makes the folder if it is missing, and returns its whole path. Throws a FileError if that fails. */
export async function makeFolder(path: string): Promise<string> {
  const whole = locate(path);
  await mkdir(whole, { recursive: true }).catch(refuseFolder(path));
  return whole;
}

export const refuseFolder =
  (path: string) =>
  ({ code }: { code?: string }): never => {
    const why = code === 'EACCES' ? `: the user ${processUser()} may not` : '';
    throw new FileError(`Cannot use the folder ${locate(path)}${why} (${code}).`);
  };

// Where files are, and files by line, in bounded memory.
import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import process from 'node:process';
import { createInterface } from 'node:readline';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

// As far up from the source (server/runtime/) as from what is built of it (build/service/).
const rootFolder = fileURLToPath(new URL('../../', import.meta.url));

export const buildFolder = `${rootFolder}build`;

/** Of the embedded database, unless a setting says otherwise; git ignores it. */
export const dataFolder = `${rootFolder}.data`;

/** The whole of a file, or undefined where it cannot be read, is none, or is larger. */
export function readSmallFile(path: string, maxBytes: number): Uint8Array<ArrayBuffer> | undefined {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxBytes ? new Uint8Array(readFileSync(path)) : undefined;
  } catch {
    return undefined;
  }
}

/** Printed as one sentence, without a stack. */
export class FileError extends Error {}

/** The lines of a file; `bytesRead` tells how far it is. Throws a FileError where it cannot be read. */
export async function openLines(path: string) {
  const size = await stat(path).then(
    (found) => found.size,
    (error) => {
      throw new FileError(`Cannot read the file ${path} (${error.code}).`);
    },
  );
  const stream = createReadStream(path);
  async function* readLines() {
    // Made when the first line is asked for: readline emits from then on, and what nobody awaits is lost.
    yield* createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  }
  return { lines: readLines(), size, bytesRead: () => stream.bytesRead };
}

export type LineWriter = { write: (line: string) => Promise<void>; close: () => Promise<void> };

/**
 * The text of a file, or of standard input for `-`, in chunks. Throws a FileError where it cannot be read. */
export async function* readText(path: string): AsyncGenerator<string, void> {
  const stream = path === '-' ? process.stdin : createReadStream(path);
  try {
    for await (const chunk of stream.setEncoding('utf8')) yield chunk;
  } catch (error) {
    throw new FileError(`Cannot read the file ${path} (${(error as { code?: string }).code}).`);
  }
}

/**
 * Writes lines to a file, made anew; waits where the disk is slower. Throws a FileError where it cannot be written, or is
 * `input`, the file that is being read.
 */
export async function openLineWriter(path: string, input: string): Promise<LineWriter> {
  const [old, read] = await Promise.all([path, input].map((each) => stat(each).catch(() => undefined)));
  if (old && old.dev === read?.dev && old.ino === read.ino)
    throw new FileError(`The file ${path} is the one to be read.`);
  const stream = createWriteStream(path);
  const cannotWrite = (error: Error & { code?: string }) =>
    new FileError(`Cannot write the file ${path} (${error.code}).`);
  await once(stream, 'open').catch((error) => {
    throw cannotWrite(error);
  });
  return {
    write: buildLineWrite(stream, cannotWrite),
    close: () => new Promise<void>((done) => stream.end(done)),
  };
}

/** The same for standard output, which stays open. */
export function writeLinesOut(): LineWriter {
  const isGone = () => new FileError('Nothing reads the output any more.');
  return { write: buildLineWrite(process.stdout, isGone), close: async () => undefined };
}

function buildLineWrite(stream: Writable, describe: (error: Error) => FileError) {
  // Each write says so, too.
  stream.on('error', () => undefined);
  return (line: string) =>
    new Promise<void>((done, failed) =>
      stream.write(`${line}\n`, (error) => (error ? failed(describe(error)) : done())),
    );
}

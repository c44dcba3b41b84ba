// Where files are, and files by line, in bounded memory.
import { createReadStream, createWriteStream, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
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

/** Writes lines to a file, made anew; waits where the disk is slower. */
export function openLineWriter(path: string) {
  const stream = createWriteStream(path);
  return {
    write: (line: string) =>
      new Promise<void>((done, failed) =>
        stream.write(`${line}\n`, (error) => (error ? failed(error) : done())),
      ),
    close: () => new Promise<void>((done) => stream.end(done)),
  };
}

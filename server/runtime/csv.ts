// CSV as RFC 4180 has it, record by record, in bounded memory.
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { FileError } from './files.ts';

/** `line` is the one that it ends on. */
export type CsvRecord = { line: number; fields: string[] };

/**
 * The records of text that arrives in chunks, in UTF-8; blank lines are none. Throws a FileError where quotes are wrong or a record
 * is longer than `maxLength`: nobody can tell where the next one begins.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  maxLength: number,
): AsyncGenerator<CsvRecord, void> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxLength,
  });
  // What goes wrong at either end comes out of the loop.
  pipeline(Readable.from(chunks), parser, () => undefined);
  try {
    for await (const { info, record } of parser) yield { line: info.lines, fields: record };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Its own message holds what is in the file.
    throw new FileError(`Line ${error.lines} is not CSV (${error.code}).`);
  }
}

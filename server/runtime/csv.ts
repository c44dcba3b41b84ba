// CSV as RFC 4180 has it: read record by record, in bounded memory, and written.
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { FileError } from './files.ts';

/** `line` is the line on which the record ends. */
export type CsvRecord = { line: number; fields: string[] };

/**
 * The records of text that arrives in chunks, in UTF-8; blank lines are no records. Throws a FileError if quotes are wrong or a
 * record is longer than `maxLength`: nobody can tell where the next one begins. `delimiter` stands between fields.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  maxLength: number,
  delimiter: ',' | ';' = ',',
): AsyncGenerator<CsvRecord, void> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxLength,
  });
  // The loop throws the errors of either end.
  pipeline(Readable.from(chunks), parser, () => undefined);
  try {
    for await (const { info, record } of parser) yield { line: info.lines, fields: record };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser's own message holds content of the file.
    throw new FileError(`Line ${error.lines} is not CSV (${error.code}).`);
  }
}

/** Each record with its end of line. */
export const writeCsv = (records: string[][]): string =>
  records.map((fields) => `${fields.map(quote).join(',')}\r\n`).join('');

const quote = (field: string) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);

/** A text that others wrote, so that a spreadsheet does not take it for a formula. */
export const guardText = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

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

/** Each record with its end of line. No field of it is a formula to a spreadsheet (contract 7.181 and 7.413). */
export const writeCsv = (records: string[][]): string =>
  records.map((fields) => `${fields.map(writeField).join(',')}\r\n`).join('');

const number = /^-?\d+(\.\d+)?$/;

// Where a spreadsheet of any language may begin a cell, and what it begins a formula with. Excel in German goes by semicolons
// only, and then takes no notice of our quotes. Signs that nobody sees (Cf) may be dropped on the way into a cell.
const breaks = ';\\t\\v\\f\\r\\n\\u0085\\u2028\\u2029';
const formula = new RegExp(`(?:^|[${breaks}])(?=[\\p{Zs}\\p{Cf}"]*[=+\\-@＝＋－＠﹦﹢﹣﹫])`, 'gu');
const broken = new RegExp(`^[${breaks.slice(1)}]`);
const toQuote = new RegExp(`[",${breaks}]`);

function writeField(field: string): string {
  const guarded = number.test(field) ? field : field.replace(formula, "$&'").replace(broken, "'$&");
  return guarded !== field || toQuote.test(field) ? `"${guarded.replaceAll('"', '""')}"` : field;
}

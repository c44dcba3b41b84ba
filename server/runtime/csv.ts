// Reads CSV (RFC 4180) record by record, in bounded memory. Also writes CSV.
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { FileError } from './files.ts';

/**
 * Skips blank lines. `line` is the number of the line on which a record ends. Throws a FileError if quotes are wrong or a
 * record is too long.
 */
export async function* readCsv(
  chunks: AsyncIterable<Uint8Array>,
  maxLength: number,
  { delimiter = ',', hasLooseQuotes = false }: { delimiter?: string; hasLooseQuotes?: boolean } = {},
): AsyncGenerator<{ line: number; fields: string[] }, void> {
  const parser = parse({
    bom: true,
    delimiter,
    info: true,
    relax_column_count: true,
    // Some banks write quotes inside a field without doubling them.
    relax_quotes: hasLooseQuotes,
    skip_empty_lines: true,
    max_record_size: maxLength,
  });
  // Errors are not handled here, because the loop below throws the errors of both streams.
  pipeline(Readable.from(chunks), parser, () => undefined);
  try {
    for await (const { info, record } of parser) yield { line: info.lines, fields: record };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The parser's own message would show text from the file.
    throw new FileError(`Line ${error.lines} is not CSV (${error.code}).`);
  }
}

/** Writes fields so that no spreadsheet reads a field as a formula (contract 7.181). */
export const writeCsv = (records: string[][]): string =>
  records.map((fields) => `${fields.map(writeField).join(',')}\r\n`).join('');

const number = /^-?\d+(\.\d+)?$/;

// After these characters a spreadsheet may begin a cell, and so a formula. German Excel splits only at semicolons, and then
// ignores our quotes. Invisible characters (Cf) may disappear on the way into a cell.
const breaks = ';\\t\\v\\f\\r\\n\\u0085\\u2028\\u2029';
const formula = new RegExp(`(?:^|[${breaks}])(?=[\\p{Zs}\\p{Cf}"]*[=+\\-@＝＋－＠﹦﹢﹣﹫])`, 'gu');
const broken = new RegExp(`^[${breaks.slice(1)}]`);
const toQuote = new RegExp(`[",${breaks}]`);

function writeField(field: string): string {
  const guarded = number.test(field) ? field : field.replace(formula, "$&'").replace(broken, "'$&");
  return guarded !== field || toQuote.test(field) ? `"${guarded.replaceAll('"', '""')}"` : field;
}

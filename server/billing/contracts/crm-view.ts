// Reads a file with the contracts as the CRM sees them: one JSON object per line, or CSV with a header (docs/crm.md).
import { z } from 'zod';
import { toFieldErrors } from '../../basics/errors.ts';
import { instantSchema } from '../../basics/instant.ts';
import { readCsv } from '../../runtime/csv.ts';
import { FileError, splitLines } from '../../runtime/files.ts';
import { isBlank, parseStrictJson, StrictJsonError } from '../../sso/strict-json.ts';
import { contractStatusSchema } from './contract-list.ts';
import { describeType, planSchema, priceSchema, signupIdSchema } from './signup-message.ts';

const maxLineLength = 64 * 1024;

// Writes instants in the same form as the list of contracts, so that the two can be compared.
const instantTextSchema = instantSchema.transform((at) => at.toISOString());

const statuses = contractStatusSchema.options;

const lineSchema = z.object({
  signup_id: signupIdSchema,
  user_id: z.guid('Must be a UUID.').toLowerCase().optional(),
  status: z.enum(statuses, `Must be one of ${statuses.join(', ')}.`).optional(),
  plan: planSchema.optional(),
  trial_ends_at: instantTextSchema.nullable().optional(),
  cancels_at: instantTextSchema.nullable().optional(),
  price: priceSchema
    .transform((price) => ({ ...price, quantity: price.quantity ?? 1 }))
    .nullable()
    .optional(),
  occurred_at: instantTextSchema.optional(),
});

/** What a line says about a contract. A member that the line lacks is missing here, too. */
export type View = Omit<z.output<typeof lineSchema>, 'signup_id'>;

/** A line has either `view` or `fault`. A faulty line has a signup id if at least that can be read. */
export type ViewLine = { line: number; signupId?: string; view?: View; fault?: string };

/** Throws a FileError if the file cannot be read. Reading its lines may throw a FileError, too. */
export async function openCrmView(
  chunks: AsyncGenerator<Uint8Array, void>,
): Promise<AsyncGenerator<ViewLine, void>> {
  const { start, text } = await readStart(chunks);
  const all = startWith(start, chunks);
  if (/^\s*($|\{)/.test(text)) return readJsonLines(all);
  if (/^\s*\[/.test(text)) throw new FileError('Write one JSON object a line, not an array of them.');
  const records = readCsv(all, maxLineLength);
  const header = await records.next();
  return readCsvLines(requireColumns(header.done ? [] : header.value.fields), records);
}

/** Reads enough of the file to recognize its format. Standard input may come in many small chunks. */
async function readStart(chunks: AsyncGenerator<Uint8Array, void>) {
  const start: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let text = '';
  while (!/\S/.test(text) && text.length <= maxLineLength) {
    const chunk = await chunks.next();
    if (chunk.done) break;
    start.push(chunk.value);
    text += decoder.decode(chunk.value, { stream: true });
  }
  return { start, text };
}

async function* startWith(
  start: Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  yield* start;
  yield* rest;
}

async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ViewLine, void> {
  let line = 0;
  for await (const bytes of splitLines(chunks, maxLineLength)) {
    line++;
    if (!isBlank(bytes)) yield readJsonLine(line, bytes);
  }
}

function readJsonLine(line: number, bytes: Uint8Array): ViewLine {
  if (bytes.length > maxLineLength) return { line, fault: 'too long' };
  try {
    return readMembers(line, parseStrictJson(bytes));
  } catch (error) {
    if (error instanceof StrictJsonError) return { line, fault: error.message };
    throw error;
  }
}

const priceColumns = ['currency', 'unit_amount', 'interval'];
const comparedColumns = [...Object.keys(lineSchema.shape), ...priceColumns, 'quantity'];

/**
 * Refuses a header that has only part of the price or repeats a name. With such a header, the comparison would not be what the
 * author of the file expects.
 */
function requireColumns(header: string[]): string[] {
  const columns = header.map((name) => name.trim());
  if (!columns.includes('signup_id'))
    throw new FileError('The first line is neither a JSON object nor a CSV header with signup_id.');
  const names = columns.filter((name) => comparedColumns.includes(name));
  if (new Set(names).size < names.length) throw new FileError('The CSV header has a column twice.');
  const ofPrice = names.filter((name) => priceColumns.includes(name)).length;
  if (ofPrice > 0 && ofPrice < priceColumns.length)
    throw new FileError(`The CSV header must have all of ${priceColumns.join(', ')}, or none.`);
  return columns;
}

async function* readCsvLines(
  columns: string[],
  records: ReturnType<typeof readCsv>,
): AsyncGenerator<ViewLine, void> {
  for await (const { line, fields } of records) {
    const members = Object.fromEntries(columns.map((name, at) => [name, fields[at] ?? '']));
    if (fields.length === columns.length) yield readMembers(line, toMembers(members));
    else yield { line, fault: `${fields.length} fields, where the header has ${columns.length}` };
  }
}

/** An empty cell means null if the member may be null. If the member must not be null, an empty cell is a fault. */
function toMembers(cells: Record<string, string>): Record<string, unknown> {
  const { currency, unit_amount, interval, quantity, price: _, ...members } = cells;
  const hasPrice = currency || unit_amount || interval;
  const readWhole = (cell: string | undefined) => (/^\d{1,16}$/.test(cell ?? '') ? Number(cell) : cell);
  const price = {
    currency,
    unit_amount: readWhole(unit_amount),
    interval,
    quantity: readWhole(quantity || undefined),
  };
  return {
    ...members,
    ...('trial_ends_at' in members && { trial_ends_at: members.trial_ends_at || null }),
    ...('cancels_at' in members && { cancels_at: members.cancels_at || null }),
    ...(currency !== undefined && { price: hasPrice ? price : null }),
  };
}

function readMembers(line: number, members: unknown): ViewLine {
  const read = lineSchema.safeParse(members, { error: describeType });
  if (read.success) {
    const { signup_id: signupId, ...view } = read.data;
    return { line, signupId, view };
  }
  const faults = toFieldErrors(read.error).map(({ pointer, detail }) => `${pointer} ${detail}`.trim());
  const known = lineSchema.pick({ signup_id: true }).safeParse(members);
  return { line, signupId: known.data?.signup_id, fault: faults.join(' ') };
}

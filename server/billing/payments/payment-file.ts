// Reads a file of payments, or finds everything that is wrong with it (contract 7.311 to 7.315).
import { encodeHex } from 'oslo/encoding';
import { isCurrency, minorDigits } from '../../basics/currencies.ts';
import { readCsv } from '../../runtime/csv.ts';
import { FileError } from '../../runtime/files.ts';
import { sha256 } from '../../runtime/hash.ts';
import { maxAmount } from '../values/amounts.ts';
import { readDecimal } from '../values/decimals.ts';
import { isPayday } from './paid-on.ts';
import { mostOfPayer, readPayerText } from './payer-text.ts';

export const maxFileKibibytes = 5 * 1024;
const maxPayments = 20_000;
const maxLineBytes = 4_096;

const columns = ['number', 'amount', 'currency', 'date', 'reference'] as const;
type Column = (typeof columns)[number];

/** What a line says. `amount` is in minor units, and `day` looks like 2026-11-26. */
export type PaymentFacts = {
  number: string | null;
  amount: number;
  currency: string;
  day: string;
  reference: string | null;
};

/** Lines that say the same have the same `said`. */
export type ListedPayment = PaymentFacts & { line: number; id: string; said: string };

/** `line` is missing if the file cannot be split into lines. */
export type Fault = { line?: number; column?: Column; detail: string };

/** `today` is in the seller's time zone. A later day is a fault. */
export async function readPaymentFile(
  bytes: Uint8Array,
  today: string,
): Promise<{ payments: ListedPayment[]; faults: Fault[] }> {
  const refuse = (line: number, detail: string) => ({ payments: [], faults: [{ line, detail }] });
  const text = decode(bytes);
  if (text === undefined) return refuse(1, 'The file is not UTF-8. Save it as CSV in UTF-8.');
  const [first = ''] = /\S[^\r\n]*/.exec(text) ?? [];
  const records = readCsv(oneChunk(bytes), maxLineBytes, first.includes(';') ? ';' : ',');
  const payments: ListedPayment[] = [];
  const faults: Fault[] = [];
  const equals = new Map<string, number>();
  let header: Column[] | undefined;
  try {
    for await (const { line, fields } of records) {
      if (fields.every((field) => field.trim() === '')) continue;
      if (!header) {
        header = readHeader(fields);
        if (!header) return refuse(line, `The first line must name the columns ${columns.join(', ')}.`);
        continue;
      }
      const found = fields.length === header.length ? readFields(header, fields, today) : wrongCount(fields);
      if ('faults' in found) {
        faults.push(...found.faults.map((fault) => ({ line, ...fault })));
        continue;
      }
      if (payments.length === maxPayments) {
        faults.push({ line, detail: `A file has at most ${maxPayments} payments.` });
        break;
      }
      const said = writeFacts(found);
      const before = equals.get(said) ?? 0;
      equals.set(said, before + 1);
      payments.push({ line, id: nameOf(said, before), said, ...found, ...cut(found) });
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    faults.push({ detail: error.message });
  }
  if (!header && faults.length === 0)
    return refuse(1, `The file is empty. The first line must name the columns ${columns.join(', ')}.`);
  return { payments, faults };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

function readHeader(fields: string[]): Column[] | undefined {
  const names = fields.map((field) => field.trim());
  const isWhole = names.length === columns.length && columns.every((column) => names.includes(column));
  return isWhole ? (names as Column[]) : undefined;
}

const wrongCount = ({ length }: string[]) => ({
  faults: [
    {
      detail: `It has ${length} fields instead of ${columns.length}. Put a text or an amount with the dividing mark in it in quotes.`,
    },
  ],
});

function readFields(
  header: Column[],
  fields: string[],
  today: string,
): PaymentFacts | { faults: Omit<Fault, 'line'>[] } {
  const faults: Omit<Fault, 'line'>[] = [];
  const refuse = (column: Column, detail: string) => faults.push({ column, detail });
  const field = (column: Column) => (fields[header.indexOf(column)] ?? '').trim();
  const currency = field('currency');
  if (!isCurrency(currency)) refuse('currency', 'Must be an assigned ISO 4217 code, such as EUR.');
  const amount = readDecimal(field('amount'), isCurrency(currency) ? minorDigits(currency) : 4);
  if (amount === undefined)
    refuse(
      'amount',
      'Must be decimal, such as 1234.56 or 1234,56: no sign, no mark between thousands, and no more digits at the end than the currency has.',
    );
  else if (amount === 0 || amount > maxAmount)
    refuse('amount', 'Must be above 0 and at most 10^12 minor units.');
  const day = readDay(field('date'));
  if (!isPayday(day, today))
    refuse('date', `Must be a day from 2000-01-01 to today, ${today}: such as 2026-11-26 or 26.11.2026.`);
  if (faults.length > 0) return { faults };
  const [number, reference] = [normalise(field('number')), normalise(field('reference'))];
  return { number, amount: amount ?? 0, currency, day, reference };
}

/** Spreadsheets in German write 26.11.2026. */
const readDay = (text: string): string =>
  text.replace(
    /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/,
    (_, day: string, month: string, year: string) =>
      `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
  );

/** Programs that export the same statement may use different forms of Unicode and different spaces. */
export const normalise = (text: string): string | null =>
  readPayerText(text.normalize('NFC').replace(/\p{Zs}/gu, ' '));

/** Cuts texts for storing. The id uses the whole texts, because their ends may tell two payments apart. */
const cut = ({ number, reference }: PaymentFacts) => ({
  number: number && readPayerText(number, mostOfPayer.number),
  reference: reference && readPayerText(reference, mostOfPayer.reference),
});

export const writeFacts = ({ number, amount, currency, day, reference }: PaymentFacts): string =>
  JSON.stringify([number, amount, currency, day, reference]);

/** The id of a payment. `before` is how many equal lines came before it. */
export const nameOf = (said: string, before: number): string =>
  `csv:${encodeHex(sha256(`${said}${before}`))}`;

// Reads a file of payments, or finds everything that is wrong with it (contract 7.311 to 7.315, 7.510 to 7.513). The file has
// our five columns, or is a statement of a bank.
import { encodeHex } from 'oslo/encoding';
import { isCurrency, minorDigits } from '../../basics/currencies.ts';
import { readCsv } from '../../runtime/csv.ts';
import { FileError } from '../../runtime/files.ts';
import { sha256 } from '../../runtime/hash.ts';
import { maxAmount } from '../values/amounts.ts';
import { isDay } from '../values/days.ts';
import { readDecimal } from '../values/decimals.ts';
import { type BankLine, findLayout, knownBanks, type ReadLine } from './bank-layouts.ts';
import { readCamt } from './camt.ts';
import { isPayday } from './paid-on.ts';
import { mostOfPayer, readPayerText } from './payer-text.ts';

export const maxFileKibibytes = 5 * 1024;
const maxPayments = 20_000;
const maxLineBytes = 4_096;
const partBytes = 16 * 1_024;
/** Banks write a few lines about the account above the line that names the columns. */
const maxLinesBefore = 40;

const columns = ['number', 'amount', 'currency', 'date', 'reference'] as const;
type Column = (typeof columns)[number];

/** What a line says. `amount` is in minor units, and `day` has a form such as 2026-11-26. */
export type PaymentFacts = {
  number: string | null;
  amount: number;
  currency: string;
  day: string;
  reference: string | null;
};

/**
 * Two lines with equal facts have equal `said`. `words` is the full reference if it is too long to be stored in full. `isOut`
 * is true if the money went out, which only a line from a bank can say. An import records a line from a bank only if it matches
 * exactly (contract 7.516).
 */
export type ListedPayment = PaymentFacts & {
  line: number;
  id: string;
  said: string;
  words: string | null;
  isBank: boolean;
  isOut: boolean;
};

/** `line` is missing if the file cannot be split into lines. */
export type Fault = { line?: number; column?: Column; detail: string };

type Read = Omit<ListedPayment, 'line' | 'id'>;
type Found = Read | { faults: Omit<Fault, 'line'>[] } | undefined;

/**
 * `today` is in the seller's time zone. In a file with our own columns, a line with a later day is a fault. In a bank statement,
 * such a line is left out, because the bank has not booked it yet.
 */
export async function readPaymentFile(
  bytes: Uint8Array,
  today: string,
): Promise<{ payments: ListedPayment[]; faults: Fault[] }> {
  const payments: ListedPayment[] = [];
  const faults: Fault[] = [];
  const equals = new Map<string, number>();
  let count = 0;
  try {
    for await (const { line, found } of readLines(decode(bytes), today)) {
      if (!found) continue;
      if (count++ === maxPayments) {
        faults.push({ line, detail: `A file has at most ${maxPayments} payments.` });
        break;
      }
      if ('faults' in found) {
        faults.push(...found.faults.map((fault) => ({ line, ...fault })));
        continue;
      }
      const { said } = found;
      const before = equals.get(said) ?? 0;
      equals.set(said, before + 1);
      payments.push({ line, id: nameOf(said, before, found.isBank ? 'bank' : 'csv'), ...found });
    }
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const [, line] = /^Line (\d+): /.exec(error.message) ?? [];
    const detail = line ? error.message.slice(`Line ${line}: `.length) : error.message;
    faults.push({ ...(line && { line: Number(line) }), detail });
  }
  return { payments, faults };
}

/** The characters of Windows-1252 from 0x80 to 0x9f. Node 20 decodes these bytes as the control characters of Latin 1. */
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Reads a file that is not UTF-8 as Windows-1252, which has a character for each byte. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252')
      .decode(bytes)
      .replace(/[\x80-\x9f]/g, (char) => windows1252.charAt(char.charCodeAt(0) - 0x80));
  }
}

async function* readLines(text: string, today: string): AsyncGenerator<{ line: number; found: Found }, void> {
  if (/^\s*</.test(text)) {
    for (const { line, ...said } of readCamt(text)) yield { line, found: readBankLine(said, today) };
    return;
  }
  const start = findStart(text);
  const options = { delimiter: start.delimiter, hasLooseQuotes: start.readLine !== undefined };
  let header: string[] | undefined;
  for await (const { line, fields } of readCsv(encodeParts(start.rest), maxLineBytes, options)) {
    if (fields.every((field) => field.trim() === '')) continue;
    const at = line + start.linesBefore;
    if (!header) header = fields.map((field) => field.trim());
    else if (start.readLine) {
      const said = start.readLine(fields);
      yield { line: at, found: said && readBankLine(said, today) };
    } else if (fields.length !== header.length) yield { line: at, found: wrongCount(fields) };
    else yield { line: at, found: readFields(header as Column[], fields, today) };
  }
}

type Start = { rest: string; linesBefore: number; delimiter: string; readLine?: ReadLine };

/** Finds the line that names the columns. Throws a FileError if no line does. */
function findStart(text: string): Start {
  let from = 0;
  for (let linesBefore = 0; linesBefore < maxLinesBefore && from < text.length; linesBefore++) {
    const [line = ''] = /^[^\r\n]*(?:\r\n|\r|\n|$)/.exec(text.slice(from, from + maxLineBytes)) ?? [];
    for (const delimiter of [';', ',', '\t']) {
      const names = line.split(delimiter).map((name) =>
        name
          .trim()
          .replace(/^"(.*)"$/, '$1')
          .trim(),
      );
      const found = { rest: text.slice(from), linesBefore, delimiter };
      if (names.length === columns.length && columns.every((column) => names.includes(column))) return found;
      const readLine = findLayout(names);
      if (readLine) return { ...found, readLine };
    }
    from += line.length || maxLineBytes;
  }
  throw new FileError(
    `Line 1: No line names the columns ${columns.join(', ')}, or those of a bank that we know: ${knownBanks.join(', ')}.`,
  );
}

/** Yields the text in parts, because the parser holds all records of a part in memory. */
async function* encodeParts(text: string): AsyncGenerator<Uint8Array, void> {
  const bytes = new TextEncoder().encode(text);
  for (let from = 0; from < bytes.length; from += partBytes) yield bytes.subarray(from, from + partBytes);
}

const wrongCount = ({ length }: string[]) => ({
  faults: [
    {
      detail: `It has ${length} fields instead of ${columns.length}. Put a text or an amount with the dividing mark in it in quotes.`,
    },
  ],
});

function readFields(header: Column[], fields: string[], today: string): Found {
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
  const said = { number, amount: amount ?? 0, currency, day, reference };
  return { ...said, ...cut(said), said: writeFacts(said), isBank: false, isOut: false };
}

/** Spreadsheets in German write 26.11.2026. */
const readDay = (text: string): string =>
  text.replace(
    /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/,
    (_, day: string, month: string, year: string) =>
      `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
  );

/** Returns undefined for a line with an amount of 0, and for a line that the bank has not booked yet. */
function readBankLine({ day, amount, currency, text, payer, id }: BankLine, today: string): Found {
  const faults: Omit<Fault, 'line'>[] = [];
  const refuse = (column: Column, detail: string) => faults.push({ column, detail });
  if (!isCurrency(currency)) refuse('currency', 'The line has no ISO 4217 code that is assigned.');
  if (amount === undefined || Math.abs(amount) > maxAmount)
    refuse('amount', 'The amount cannot be read, or is above 10^12 minor units.');
  if (isDay(day) && day > today) return undefined;
  if (!isPayday(day, today)) refuse('date', 'The day cannot be read.');
  if (faults.length > 0) return { faults };
  if (!amount) return undefined;
  const words = [text, payer].map(normalise);
  const said = JSON.stringify([day, amount, currency, ...words, normalise(id)]);
  const reference = words.filter((each) => each !== null).join(' / ') || null;
  const facts = { number: null, amount: Math.abs(amount), currency, day, reference };
  return { ...facts, ...cut(facts), said, isBank: true, isOut: amount < 0 };
}

/**
 * Programs that export the same statement may use different forms of Unicode and different spaces. This makes their texts equal.
 */
export const normalise = (text: string): string | null =>
  readPayerText(text.normalize('NFC').replace(/\p{Zs}/gu, ' '));

/**
 * Only this many code points of a text are searched for invoice numbers and buyers. The form at /admin/billing/import sends
 * this part of the text back.
 */
export const mostWords = 1_000;

/**
 * Cuts texts for storing. The id is made from the whole texts, because two payments may differ only at the end. `words` is
 * longer than the stored reference, because an invoice number may be at the end.
 */
function cut({ number, reference }: PaymentFacts) {
  const kept = reference && readPayerText(reference, mostOfPayer.reference);
  const words = reference && readPayerText(reference, mostWords);
  return {
    number: number && readPayerText(number, mostOfPayer.number),
    reference: kept,
    words: words === kept ? null : words,
  };
}

export const writeFacts = ({ number, amount, currency, day, reference }: PaymentFacts): string =>
  JSON.stringify([number, amount, currency, day, reference]);

/** Returns the id of a payment. `before` is how many equal lines come before the payment's line. */
export const nameOf = (said: string, before: number, kind: 'csv' | 'bank' = 'csv'): string =>
  `${kind}:${encodeHex(sha256(`${said}${before}`))}`;

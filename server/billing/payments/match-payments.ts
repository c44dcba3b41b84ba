// Which invoice a payment pays, by what the payer wrote (contract 7.514 to 7.517 and 7.524). Only a payment that names one invoice, and is
// exactly what is open, pays it by itself. For any other payment this proposes invoices, and people decide.
import type { Database } from '../../../db/postgres/client.ts';
import { listPaymentsOf } from '../../../db/tables/allocations.ts';
import { listPrefixes, writeNumber } from '../../../db/tables/document-series.ts';
import { findInvoiceToPay, type Invoice, listToMatch } from '../../../db/tables/invoices.ts';
import { listLostDocuments } from '../../../db/tables/lost-documents.ts';
import type { ListedPayment } from './payment-file.ts';

/** `payment` is set for money that went out: the payment that it gives back. */
export type Proposal = { number: string; open: number; buyer: string; payment?: string };

export type Match = {
  /** What the payment pays by itself, or gives back. */
  exact: Proposal | undefined;
  proposals: Proposal[];
};

const mostProposals = 5;

/** Returns matches by the ids of the payments. Money that went out and names none of our invoices has no match. */
export async function matchPayments(db: Database, payments: ListedPayment[]): Promise<Map<string, Match>> {
  const named = await findNamed(db, payments);
  const unnamed = payments.filter(({ id, isOut }) => !isOut && named.get(id)?.all.length === 0);
  const open =
    unnamed.length === 0
      ? []
      : await listToMatch(db, { openAmounts: [...new Set(unnamed.map(({ amount }) => amount))] });
  const alike = new Map<string, Alike[]>();
  for (const invoice of open) {
    const each = { invoice, buyer: fold(invoice.buyer) };
    const others = alike.get(keyOf(invoice));
    if (others) others.push(each);
    else alike.set(keyOf(invoice), [each]);
  }
  const matches = new Map<string, Match>();
  for (const payment of payments) {
    const { all, sure } = named.get(payment.id) ?? { all: [], sure: new Set() };
    if (payment.isOut) {
      if (all.length > 0) matches.set(payment.id, await matchRefund(db, payment, { all, sure }));
      continue;
    }
    const waiting = all.filter(({ status, currency }) => status === 'open' && currency === payment.currency);
    const exact = waiting.filter((invoice) => sure.has(invoice.id) && invoice.open === payment.amount);
    const guessed = all.length > 0 ? waiting : guess(payment, alike.get(keyOf(payment)) ?? []);
    matches.set(payment.id, {
      exact: exact.length === 1 ? exact.map(propose)[0] : undefined,
      proposals: guessed.slice(0, mostProposals).map(propose),
    });
  }
  return matches;
}

type Named = Invoice & { buyer: string };
/** The invoices that a payment may name, and the ids of the sure ones. */
type AllNamed = { all: Named[]; sure: Set<number> };
type Alike = { invoice: Named; buyer: string };

const propose = ({ number, open, buyer }: Named): Proposal => ({ number, open, buyer });

const keyOf = ({ currency, ...of }: { currency: string } & ({ open: number } | { amount: number })) =>
  `${currency} ${'open' in of ? of.open : of.amount}`;

/** Of open invoices of the same amount, those whose buyer the payer names. If there is only one such invoice, that one. */
function guess(payment: ListedPayment, alike: Alike[]): Named[] {
  const words = fold(wordsOf(payment));
  const ofPayer = alike.filter(({ buyer }) => buyer.length >= 4 && words.includes(buyer));
  return (ofPayer.length > 0 ? ofPayer : alike.length === 1 ? alike : []).map(({ invoice }) => invoice);
}

const wordsOf = ({ words, reference }: ListedPayment) => words ?? reference ?? '';

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** Money that went out gives back a payment of the invoice that it names, if that has as much left. */
async function matchRefund(
  db: Database,
  { amount, currency }: ListedPayment,
  { all, sure }: AllNamed,
): Promise<Match> {
  const proposals: Proposal[] = [];
  const whole: Proposal[] = [];
  for (const invoice of all.filter((each) => each.currency === currency))
    for (const { id, received, wentBack } of await listPaymentsOf(db, invoice.id)) {
      const proposal = { ...propose(invoice), payment: id };
      if (received - wentBack >= amount) proposals.push(proposal);
      if (sure.has(invoice.id) && received === amount && wentBack === 0) whole.push(proposal);
    }
  return { exact: whole.length === 1 ? whole[0] : undefined, proposals: proposals.slice(0, mostProposals) };
}

/** The invoices that each payment names. The one in its number is the only sure one. */
async function findNamed(db: Database, payments: ListedPayment[]): Promise<Map<string, AllNamed>> {
  const prefixes = await listPrefixes(db);
  const texts = payments.map((payment) => {
    const text = [payment.number, wordsOf(payment)].filter(Boolean).join(' ');
    const found = findNumbers(text, prefixes, { needsPrefix: payment.isOut });
    return { id: payment.id, number: payment.number?.toUpperCase(), ...found };
  });
  const wanted = [...new Set(texts.flatMap(({ number, sure, dates }) => [number ?? [], sure, dates].flat()))];
  const known = new Map<string, Named>();
  for (let from = 0; from < wanted.length; from += sliceSize)
    for (const invoice of await listToMatch(db, { numbers: wanted.slice(from, from + sliceSize) }))
      known.set(invoice.number, invoice);
  // A number that a restore has lost stands for the invoice in its place.
  const lost = wanted.length > 0 ? new Set(await listLostDocuments(db)) : new Set();
  for (const number of wanted.filter((each) => !known.has(each) && lost.has(each))) {
    const replacing = await findInvoiceToPay(db, number);
    const [found] = replacing ? await listToMatch(db, { numbers: [replacing.number] }) : [];
    if (found) known.set(number, found);
  }
  return new Map(
    texts.map(({ id, number = '', sure, dates }) => {
      const own = known.has(number) ? [number] : [];
      const find = (numbers: string[]) => numbers.flatMap((each) => known.get(each) ?? []);
      return [
        id,
        {
          all: [...new Map(find([...own, ...sure, ...dates]).map((one) => [one.id, one])).values()],
          sure: new Set(find(own.length > 0 ? own : sure).map((one) => one.id)),
        },
      ];
    }),
  );
}

const sliceSize = 1_000;

// People and banks put spaces and other marks anywhere into a number.
const between = '[\\s./_-]{0,3}';
const yearAndMore = new RegExp(`2${between}0${between}\\d${between}\\d(?:${between}\\d){4,10}`, 'g');
// Without the prefix, the number stands alone: another prefix makes it a number of somebody else, and dates have more marks.
const alone = /(?<![\p{L}\d][-_./]?)(20\d\d)[\s./_-]?(\d{4,10})(?![\p{L}\d]|[-_./]\d)/gu;
/** A month and a day, such as 0115. */
const monthAndDay = /^(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;

/**
 * The numbers of documents that a text may name: INV-2026-0041, inv 2026 0041, INV20260041 and, if no number has a prefix,
 * 2026-0041. Letters right before the year must be the prefix. A number ends where the digits do, or before a mark. `dates` are
 * numbers that may as well be dates: 20260115, and after a prefix 2026-01-15.
 */
export function findNumbers(
  text: string,
  prefixes: string[],
  { needsPrefix = false } = {},
): { sure: string[]; dates: string[] } {
  const upper = text.toUpperCase();
  const found = { sure: new Set<string>(), dates: new Set<string>() };
  for (let from = 0; ; ) {
    yearAndMore.lastIndex = from;
    const match = yearAndMore.exec(upper);
    if (!match) break;
    from = match.index + 1;
    const before = upper.slice(Math.max(0, match.index - 60), match.index);
    for (const { year, count, isDate } of split(match[0], upper[match.index + match[0].length]))
      for (const prefix of prefixes)
        if (isBefore(prefix, before))
          found[isDate ? 'dates' : 'sure'].add(writeNumber({ prefix, year }, count));
  }
  if (found.sure.size + found.dates.size === 0 && !needsPrefix)
    for (const [, year, count = ''] of upper.matchAll(alone))
      for (const prefix of isCount(count) ? prefixes : [])
        found[monthAndDay.test(count) ? 'dates' : 'sure'].add(
          writeNumber({ prefix, year: Number(year) }, count),
        );
  return { sure: [...found.sure], dates: [...found.dates] };
}

/** Numbers with more than four digits begin with another digit than 0. */
const isCount = (digits: string) => digits.length === 4 || !digits.startsWith('0');

/** The year, and each run of digits after it that ends at a mark or at the end. */
function* split(
  found: string,
  next: string | undefined,
): Generator<{ year: number; count: string; isDate: boolean }> {
  const digits = [...found.matchAll(/\d/g)].map(({ 0: digit, index }) => ({ digit, index }));
  const read = (from: number, end: number) =>
    digits
      .slice(from, end)
      .map(({ digit }) => digit)
      .join('');
  const isMarked = (at: number) => (digits[at]?.index ?? 0) - (digits[at - 1]?.index ?? 0) > 1;
  for (let end = 8; end <= digits.length; end++) {
    const last = digits[end - 1]?.index ?? 0;
    if (/\d/.test(found[last + 1] ?? next ?? '')) continue;
    const count = read(4, end);
    const isDate = monthAndDay.test(count) && isMarked(4) && isMarked(6);
    if (isCount(count)) yield { year: Number(read(0, 4)), count, isDate };
  }
}

function isBefore(prefix: string, before: string): boolean {
  const letters = prefix.replaceAll('-', '');
  const marks = /[\s./_-]*$/;
  let rest = before;
  for (const letter of [...letters].reverse()) {
    rest = rest.replace(marks, '');
    if (!rest.endsWith(letter)) return false;
    rest = rest.slice(0, -1);
  }
  return letters !== '' && !/[A-Z0-9]$/.test(rest);
}

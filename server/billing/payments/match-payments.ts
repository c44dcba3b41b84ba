// Finds the invoice that a payment pays, by what the payer wrote (contract 7.514 to 7.517 and 7.524). A payment is matched
// automatically only if it names one invoice, and its amount is exactly what is open. For other payments this proposes invoices,
// and people decide.
import type { Database } from '../../../db/postgres/client.ts';
import { listPaymentsOf } from '../../../db/tables/allocations.ts';
import { listPrefixes, writeNumber } from '../../../db/tables/document-series.ts';
import { findInvoiceToPay, type Invoice, listToMatch } from '../../../db/tables/invoices.ts';
import { listLostDocuments } from '../../../db/tables/lost-documents.ts';
import { listPaymentsIn } from '../../../db/tables/payments.ts';
import { findZone } from '../invoices/issue.ts';
import type { ListedPayment } from './payment-file.ts';

/** If the money went out, `payment` is the payment that it gives back. */
export type Proposal = { number: string; open: number; buyer: string; payment?: string };

export type Match = {
  /** The invoice that the payment pays, or the payment that it gives back, if no person has to decide. */
  exact: Proposal | undefined;
  proposals: Proposal[];
  /** The numbers of the invoices that the payment certainly names. */
  sure: string[];
  /**
   * Recorded payments that may be the same payment from another source. They have the same amount and day, and are for the same
   * invoice or for none.
   */
  alike: string[];
};

const mostProposals = 5;

/** Returns matches by the ids of the payments. If money that went out names none of our invoices, it has no match. */
export async function matchPayments(
  db: Database,
  payments: ListedPayment[],
  named?: Map<string, AllNamed>,
): Promise<Map<string, Match>> {
  named ??= await findNamed(db, payments);
  const findAlike = await readAlike(db, payments);
  const unnamed = payments.filter(({ id, isOut }) => !isOut && named.get(id)?.all.length === 0);
  const open =
    unnamed.length === 0
      ? []
      : await listToMatch(db, { openAmounts: [...new Set(unnamed.map(({ amount }) => amount))] });
  const equal = new Map<string, Equal[]>();
  for (const invoice of open)
    addTo(equal, keyOf(invoice.currency, invoice.open), { invoice, buyer: fold(invoice.buyer) });
  const matches = new Map<string, Match>();
  for (const payment of payments) {
    const found = named.get(payment.id) ?? { all: [], sure: new Set() };
    if (payment.isOut && found.all.length === 0) continue;
    const alike = findAlike(payment, found.all);
    const { exact, proposals } = payment.isOut
      ? await matchRefund(db, payment, found)
      : matchOpen(payment, found, equal.get(keyOf(payment.currency, payment.amount)) ?? []);
    matches.set(payment.id, {
      exact: exact.length === 1 && alike.length === 0 ? exact[0] : undefined,
      proposals: proposals.slice(0, mostProposals),
      sure: found.all.filter(({ id }) => found.sure.has(id)).map(({ number }) => number),
      alike,
    });
  }
  return matches;
}

type Named = Invoice & { buyer: string };
/** The invoices that a payment may name. `sure` has the ids of the invoices that it certainly names. */
type AllNamed = { all: Named[]; sure: Set<number> };
type Equal = { invoice: Named; buyer: string };

const propose = ({ number, open, buyer }: Named): Proposal => ({ number, open, buyer });

const keyOf = (currency: string, amount: number) => `${currency} ${amount}`;

/** All matches that fit. The payment is matched automatically only if `exact` has exactly one element. */
type Fitting = { exact: Proposal[]; proposals: Proposal[] };

function matchOpen(payment: ListedPayment, { all, sure }: AllNamed, equal: Equal[]): Fitting {
  const waiting = all.filter(({ status, currency }) => status === 'open' && currency === payment.currency);
  const exact = waiting.filter((invoice) => sure.has(invoice.id) && invoice.open === payment.amount);
  const proposals = all.length > 0 ? waiting : guess(payment, equal);
  return { exact: exact.map(propose), proposals: proposals.map(propose) };
}

/**
 * Proposes open invoices of the same amount whose buyer the payer names. If the payer names no buyer, and only one open invoice
 * has that amount, proposes that invoice.
 */
function guess(payment: ListedPayment, equal: Equal[]): Named[] {
  const words = fold(wordsOf(payment));
  const ofPayer = equal.filter(({ buyer }) => buyer.length >= 4 && words.includes(buyer));
  return (ofPayer.length > 0 ? ofPayer : equal.length === 1 ? equal : []).map(({ invoice }) => invoice);
}

const wordsOf = ({ words, reference }: ListedPayment) => words ?? reference ?? '';

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/**
 * Finds the payments that outgoing money may give back. Such a payment pays an invoice that the money's text names. At least
 * the outgoing amount of the payment must not be refunded yet.
 */
async function matchRefund(
  db: Database,
  { amount, currency }: ListedPayment,
  { all, sure }: AllNamed,
): Promise<Fitting> {
  const fitting: Fitting = { exact: [], proposals: [] };
  for (const invoice of all.filter((each) => each.currency === currency))
    for (const { id, received, wentBack } of await listPaymentsOf(db, invoice.id)) {
      const proposal = { ...propose(invoice), payment: id };
      if (received - wentBack >= amount) fitting.proposals.push(proposal);
      if (sure.has(invoice.id) && received === amount && wentBack === 0) fitting.exact.push(proposal);
    }
  return fitting;
}

function addTo<T>(map: Map<string, T[]>, key: string, item: T): void {
  const others = map.get(key);
  if (others) others.push(item);
  else map.set(key, [item]);
}

const keyOfAlike = (
  { amount, currency, day }: { amount: number; currency: string; day: string },
  isOut: boolean,
  number = '',
) => `${isOut} ${currency} ${amount} ${day} ${number}`;

/**
 * Finds recorded payments that may be the same payment, reported by another source. Each source has its own ids and writes texts
 * in its own way, so only people can decide whether two payments are the same.
 */
async function readAlike(db: Database, payments: ListedPayment[]) {
  const days = payments.map(({ day }) => day).sort();
  const [from, to] = [days[0], days.at(-1)];
  const alike = new Map<string, string[]>();
  if (from === undefined || to === undefined) return () => [];
  const amounts = [...new Set(payments.map(({ amount }) => amount))];
  const prefixes = await listPrefixes(db);
  for (const payment of await listPaymentsIn(db, { zone: await findZone(db), from, to, amounts })) {
    const { sure, dates } = findNumbers(payment.reference ?? '', prefixes);
    const numbers = new Set([...payment.numbers, ...sure, ...dates]);
    for (const number of numbers.size > 0 ? numbers : [''])
      addTo(alike, keyOfAlike(payment, payment.kind === 'refund', number), payment.id);
  }
  return (payment: ListedPayment, all: Named[]): string[] => {
    const numbers = all.length > 0 ? all.map(({ number }) => number) : [''];
    const ids = numbers.flatMap(
      (number) => alike.get(keyOfAlike(payment, payment.isOut, number))?.slice(0, mostProposals) ?? [],
    );
    return [...new Set(ids)].slice(0, mostProposals);
  };
}

/**
 * Returns the invoices that each payment names. If the payment's own column for the number names an invoice, only that invoice is
 * sure.
 */
export async function findNamed(db: Database, payments: ListedPayment[]): Promise<Map<string, AllNamed>> {
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
  // A number that a restore has lost stands for the invoice that replaces it.
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
// Finds a number without its prefix. Letters before a number mean that it has a prefix that is not ours. A mark and more digits
// after it mean that it is a date. Such numbers do not match.
const alone = /(?<![\p{L}\d][-_./]?)(20\d\d)[\s./_-]?(\d{4,10})(?![\p{L}\d]|[-_./]\d)/gu;
/** A month and a day, such as 0115. */
const monthAndDay = /^(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;

/**
 * Returns the numbers of documents that a text may name: INV-2026-0041, inv 2026 0041, INV20260041 and, if no number has a
 * prefix, 2026-0041.
 * Letters right before the year must be the prefix. A number ends where its digits end, or before a mark. `dates` has numbers
 * that could also be dates: 20260115, and after a prefix 2026-01-15.
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
    const own = prefixes.filter((prefix) => isBefore(prefix, before));
    // If no prefix of ours is before these digits, they are no number of a document. Then `split` is not called, because it
    // takes long.
    if (own.length === 0) continue;
    for (const { year, count, isDate } of split(match[0], upper[match.index + match[0].length]))
      for (const prefix of own) found[isDate ? 'dates' : 'sure'].add(writeNumber({ prefix, year }, count));
  }
  if (found.sure.size + found.dates.size === 0 && !needsPrefix)
    for (const [, year, count = ''] of upper.matchAll(alone))
      for (const prefix of isCount(count) ? prefixes : [])
        found[monthAndDay.test(count) ? 'dates' : 'sure'].add(
          writeNumber({ prefix, year: Number(year) }, count),
        );
  return { sure: [...found.sure], dates: [...found.dates] };
}

/** The last part of a document's number has at least four digits. If it has more, it does not begin with 0. */
const isCount = (digits: string) => digits.length === 4 || !digits.startsWith('0');

/** Yields the year with each number that may follow it: all digits up to a mark, or up to the end. */
function* split(
  found: string,
  next: string | undefined,
): Generator<{ year: number; count: string; isDate: boolean }> {
  const digits = found.replace(/\D/g, '');
  const places = [...found.matchAll(/\d/g)].map(({ index }) => index);
  const isMarked = (at: number) => (places[at] ?? 0) - (places[at - 1] ?? 0) > 1;
  for (let end = 8; end <= digits.length; end++) {
    const last = places[end - 1] ?? 0;
    if (/\d/.test(found[last + 1] ?? next ?? '')) continue;
    const count = digits.slice(4, end);
    const isDate = monthAndDay.test(count) && isMarked(4) && isMarked(6);
    if (isCount(count)) yield { year: Number(digits.slice(0, 4)), count, isDate };
  }
}

/**
 * Returns whether the prefix is right before a year. Compares from the end to save time, because this is called for every year in
 * a text.
 */
function isBefore(prefix: string, before: string): boolean {
  const letters = prefix.replaceAll('-', '');
  let end = before.length;
  for (let at = letters.length - 1; at >= 0; at--) {
    while (/[\s./_-]/.test(before[end - 1] ?? '')) end--;
    if (before[--end] !== letters[at]) return false;
  }
  return letters !== '' && !/[A-Z0-9]/.test(before[end - 1] ?? '');
}

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
  const unnamed = payments.filter(({ id, isOut }) => !isOut && named.get(id)?.length === 0);
  const open =
    unnamed.length === 0
      ? []
      : await listToMatch(db, { openAmounts: [...new Set(unnamed.map(({ amount }) => amount))] });
  const alike = new Map<string, Named[]>();
  for (const invoice of open) alike.set(keyOf(invoice), [...(alike.get(keyOf(invoice)) ?? []), invoice]);
  const matches = new Map<string, Match>();
  for (const payment of payments) {
    const invoices = named.get(payment.id) ?? [];
    if (payment.isOut) {
      if (invoices.length > 0) matches.set(payment.id, await matchRefund(db, payment, invoices));
      continue;
    }
    const waiting = invoices.filter(
      ({ status, currency }) => status === 'open' && currency === payment.currency,
    );
    const exact = waiting.filter((invoice) => invoice.open === payment.amount);
    const guessed = invoices.length > 0 ? waiting : guess(payment, alike.get(keyOf(payment)) ?? []);
    matches.set(payment.id, {
      exact: exact.length === 1 ? exact.map(propose)[0] : undefined,
      proposals: guessed.slice(0, mostProposals).map(propose),
    });
  }
  return matches;
}

type Named = Invoice & { buyer: string };

const propose = ({ number, open, buyer }: Named): Proposal => ({ number, open, buyer });

const keyOf = ({ currency, ...of }: { currency: string } & ({ open: number } | { amount: number })) =>
  `${currency} ${'open' in of ? of.open : of.amount}`;

/** Of open invoices of the same amount, those whose buyer the payer names. If there is only one such invoice, that one. */
function guess({ reference }: ListedPayment, alike: Named[]): Named[] {
  const words = fold(reference ?? '');
  const ofPayer = alike.filter(({ buyer }) => fold(buyer).length >= 4 && words.includes(fold(buyer)));
  return ofPayer.length > 0 ? ofPayer : alike.length === 1 ? alike : [];
}

const fold = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

/** Money that went out gives back a payment of the invoice that it names, if that has as much left. */
async function matchRefund(
  db: Database,
  { amount, currency }: ListedPayment,
  invoices: Named[],
): Promise<Match> {
  const proposals: Proposal[] = [];
  const whole: Proposal[] = [];
  for (const invoice of invoices.filter((each) => each.currency === currency))
    for (const { id, received, wentBack } of await listPaymentsOf(db, invoice.id)) {
      const proposal = { ...propose(invoice), payment: id };
      if (received - wentBack >= amount) proposals.push(proposal);
      if (received === amount && wentBack === 0) whole.push(proposal);
    }
  return { exact: whole.length === 1 ? whole[0] : undefined, proposals: proposals.slice(0, mostProposals) };
}

/** The invoices that each payment names, in its number or its reference. */
async function findNamed(db: Database, payments: ListedPayment[]): Promise<Map<string, Named[]>> {
  const prefixes = await listPrefixes(db);
  const numbers = new Map(
    payments.map(({ id, number, reference }) => [
      id,
      findNumbers([number, reference].filter(Boolean).join(' '), prefixes),
    ]),
  );
  const wanted = [...new Set([...numbers.values()].flat())];
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
    [...numbers].map(([id, each]) => [
      id,
      [...new Map(each.flatMap((number) => known.get(number) ?? []).map((one) => [one.id, one])).values()],
    ]),
  );
}

const sliceSize = 1_000;

// People and banks put spaces and other marks anywhere into a number.
const between = '[\\s./_-]{0,3}';
const yearAndMore = new RegExp(`2${between}0${between}\\d${between}\\d(?:${between}\\d){4,10}`, 'g');

/**
 * The numbers of documents that a text may name: INV-2026-0041, inv 2026 0041, INV20260041 and 2026-0041. Letters right before
 * the year must be the prefix. A number ends where the digits do, or before a mark.
 */
export function findNumbers(text: string, prefixes: string[]): string[] {
  const upper = text.toUpperCase();
  const found = new Set<string>();
  for (let from = 0; ; ) {
    yearAndMore.lastIndex = from;
    const match = yearAndMore.exec(upper);
    if (!match) return [...found];
    from = match.index + 1;
    const before = upper.slice(Math.max(0, match.index - 60), match.index);
    for (const { year, count } of split(match[0], upper[match.index + match[0].length]))
      for (const prefix of prefixes)
        if (isBefore(prefix, before)) found.add(writeNumber({ prefix, year }, count));
  }
}

/** The year, and each run of digits after it that ends at a mark or at the end. */
function* split(found: string, next: string | undefined): Generator<{ year: number; count: string }> {
  const digits = [...found.matchAll(/\d/g)].map(({ 0: digit, index }) => ({ digit, index }));
  const year = Number(
    digits
      .slice(0, 4)
      .map(({ digit }) => digit)
      .join(''),
  );
  for (let end = 8; end <= digits.length; end++) {
    const last = digits[end - 1]?.index ?? 0;
    if (/\d/.test(found[last + 1] ?? next ?? '')) continue;
    const count = digits
      .slice(4, end)
      .map(({ digit }) => digit)
      .join('');
    // Numbers with more than four digits begin with another digit than 0.
    if (count.length === 4 || !count.startsWith('0')) yield { year, count };
  }
}

function isBefore(prefix: string, before: string): boolean {
  const letters = prefix.replaceAll('-', '');
  const marks = /[\s./_-]*$/;
  let rest = before;
  let isWhole = true;
  for (const letter of [...letters].reverse()) {
    rest = rest.replace(marks, '');
    if (!rest.endsWith(letter)) isWhole = false;
    rest = rest.slice(0, -1);
  }
  if (isWhole && letters !== '') return !/[A-Z0-9]$/.test(rest);
  // Without the prefix, the number stands alone: another prefix makes it a number of somebody else.
  return !/[\p{L}\d][-_./]?$/u.test(before);
}

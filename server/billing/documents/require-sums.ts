// Checks a document before its files are made and kept for ever (contract 7.219). Checks its required parts, and computes its
// sums in another way than when it was issued.
import type { DocumentFacts } from '../values/document-facts.ts';

/** The message names the document's number and everything that is wrong with the document. */
export class FactsError extends Error {}

/** Throws a FactsError if sums, dates or references contradict each other. */
export function requireSums(facts: DocumentFacts): void {
  const faults = [...findSumFaults(facts), ...findLineFaults(facts), ...findOtherFaults(facts)];
  if (faults.length > 0) throw new FactsError(`${facts.number}: ${faults.join('; ')}`);
}

function* findSumFaults(facts: DocumentFacts): Generator<string, void> {
  const { kind, category, rate, prices, net, tax, total } = facts;
  if (![net, tax, total].every((amount) => Number.isSafeInteger(amount) && amount >= 0))
    return yield 'an amount is not a whole number from 0';
  if (!Number.isInteger(rate) || rate < 0 || rate > 10_000) return yield 'the rate is not from 0 to 100 %';
  if (total === 0) yield 'the total is 0';
  if (net + tax !== total) yield 'net and tax do not make the total';
  if ((category === 'S') !== rate > 0) yield `a rate of ${rate} does not go with category ${category}`;
  if (rate === 0 && tax !== 0) yield 'tax is charged without a rate';
  // The exact tax is shareOf / base. It stays a fraction, so that nothing is rounded.
  const [shareOf, base] =
    prices === 'net'
      ? [BigInt(net) * BigInt(rate), 10_000n]
      : [BigInt(total) * BigInt(rate), 10_000n + BigInt(rate)];
  const twiceOff = 2n * (BigInt(tax) * base - shareOf);
  // Rounding can make the tax of an invoice wrong by half a minor unit. The tax of a credit note is the difference of two
  // rounded shares of the invoice's rounded tax (`shareCredit`), so it can be wrong by one and a half units. This allows two
  // units for a credit note.
  const allowed = kind === 'invoice' ? base : 4n * base;
  if (twiceOff > allowed || twiceOff < -allowed) yield 'the tax is not that of the rate';
}

function* findLineFaults({ lines, prices, net, total }: DocumentFacts): Generator<string, void> {
  if (!lines) return;
  if (lines.length === 0) yield 'it has no line';
  if (lines.some(({ quantity }) => !Number.isInteger(quantity) || quantity < 1))
    yield 'a quantity is not a whole number from 1';
  if (lines.some(({ amount, quantity }) => !Number.isSafeInteger(amount) || amount % quantity !== 0))
    yield 'a line is not so many times an amount';
  if (lines.reduce((sum, { amount }) => sum + amount, 0) !== (prices === 'net' ? net : total))
    yield 'the lines do not make the sum';
}

function* findOtherFaults(facts: DocumentFacts): Generator<string, void> {
  // The days of a credit note and its invoice are not compared, because version 0.5.0 dated some credit notes before their
  // invoice.
  const { kind, category, words, line, issued_on, due_on } = facts;
  if ((kind === 'credit_note') !== (facts.invoice !== null))
    yield 'a credit note names its invoice, and nothing else does';
  if ((kind === 'invoice') !== (due_on !== null))
    yield 'an invoice has a last day to pay, and nothing else does';
  if (due_on && due_on < issued_on) yield 'it is due before it is issued';
  if (line.last_day < line.first_day) yield 'its period ends before it begins';
  if (category !== 'S' && !words) yield 'it does not say why no tax is charged';
  if (category === 'AE' && !words?.includes('Reverse charge')) yield 'it does not say “Reverse charge”';
  if (category === 'AE' && !(facts.seller.vat_id && facts.buyer.vat_id))
    yield 'reverse charge needs both VAT ids';
  if (category === 'S' && !(facts.seller.vat_id || facts.seller.tax_number))
    yield 'the seller has neither VAT id nor tax number';
}

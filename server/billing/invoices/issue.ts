// Issues documents (contract 7.51 to 7.74). The transaction has locked the contract and, for a credit note, the invoice. The
// series of numbers is locked last, because all other documents wait for that lock.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import { type AuditEvent, deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { findSettingsInForce } from '../../../db/tables/billing-settings.ts';
import { takeNumber } from '../../../db/tables/document-series.ts';
import { insertDocument, readClock, sumCredited } from '../../../db/tables/documents.ts';
import { type Invoice, insertInvoice } from '../../../db/tables/invoices.ts';
import type { Contract } from '../../../db/tables/service-contracts.ts';
import type { Charge } from '../../../db/tables/waiting-periods.ts';
import type { BillingSettings } from '../settings/settings.ts';
import { type Amounts, maxAmount, shareCredit, taxPrice } from '../values/amounts.ts';
import { type ChargeLine, isMoment } from '../values/charges.ts';
import { addDays, dayIn, lastDayBefore, startOfDay } from '../values/days.ts';
import type { DocumentFacts, Seller } from '../values/document-facts.ts';
import { type Buyer, findBuyer } from './buyers.ts';
import { deferDocumentMails } from './mails.ts';
import { findTax, mayReverse } from './tax.ts';

export type Settings = { version: number; settings: BillingSettings };

/**
 * Reads the settings in force. A transaction that issues documents calls this once, so that all its documents name the same
 * version.
 */
export const findSettings = (db: Database) => findSettingsInForce(db) as Promise<Settings | undefined>;

/** Returns the seller's time zone, or UTC if there is no seller. */
export const findZone = async (db: Database): Promise<string> => zoneOf(await findSettings(db));

export const zoneOf = (settings: Settings | undefined): string =>
  settings?.settings.seller.time_zone ?? 'UTC';

/** The reason why a period is blocked (contract 7.67). */
export type BlockedCode =
  | 'account_erased'
  | 'country_unread'
  | 'vat_id_unchecked'
  | 'no_tax_rule'
  | 'tax_currency'
  | 'price_too_high';

export function computeInvoice(
  settings: BillingSettings,
  { price, startsAt, endsAt }: Charge,
  buyer: Pick<Buyer, 'taxed'>,
  lines: ChargeLine[] = [],
):
  | { blocked: BlockedCode }
  | (Amounts & Pick<DocumentFacts, 'category' | 'rate' | 'words'> & { firstDay: string; lastDay: string }) {
  const { seller } = settings;
  const firstDay = dayIn(seller.time_zone, startsAt);
  const lastDay = isMoment({ startsAt, endsAt }) ? firstDay : lastDayBefore(seller.time_zone, endsAt);
  const sum = lines.reduce((total, { amount }) => total + amount, price.unitAmount);
  if (sum > maxAmount) return { blocked: 'price_too_high' };
  if (!buyer.taxed) return { blocked: 'country_unread' };
  if (buyer.taxed.isVatIdOpen && mayReverse(seller, buyer.taxed)) return { blocked: 'vat_id_unchecked' };
  const tax = findTax(settings, buyer.taxed, lastDay);
  if (!tax) return { blocked: 'no_tax_rule' };
  const amounts = taxPrice(sum, tax.rate, settings.tax.prices);
  if (amounts.tax > 0 && price.currency !== seller.currency) return { blocked: 'tax_currency' };
  return { ...amounts, ...tax, firstDay, lastDay };
}

/** Who caused a document to be issued, for the audit. Undefined if the billing job issues it. */
type Trail = Omit<AuditEvent, 'type'> | undefined;

type Issuing = {
  trail?: Trail;
  /** Lost invoice numbers, by the first day of their period. The new invoice for that period replaces the lost number. */
  replaces?: ReadonlyMap<string, string> | undefined;
  /** Set only if this invoice replaces an earlier one: the credit note that has just canceled the earlier invoice. */
  creditNote?: string;
  lines?: ChargeLine[];
};

/** The sum of the price and all `lines` must be above 0. */
export async function issueInvoice(
  trx: Transaction<DB>,
  { version, settings }: Settings,
  contract: Contract,
  charge: Charge,
  { trail, replaces, creditNote, lines = [] }: Issuing,
): Promise<{ id: number; number: string } | { blocked: BlockedCode }> {
  const { seller, terms, numbers, plans, payment } = settings;
  const { plan, price } = charge;
  const buyer = await findBuyer(trx, contract);
  if (!buyer) return { blocked: 'account_erased' };
  const drawn = computeInvoice(settings, charge, buyer, lines);
  if ('blocked' in drawn) return drawn;
  const { firstDay, lastDay, ...amounts } = drawn;
  const { zone, now, today } = await readDay(trx, settings);
  const { number, issuedOn } = await takeNumber(trx, numbers.invoice, today);
  const dueOn = addDays(issuedOn, terms.days_to_pay);
  const dueAt = startOfDay(zone, addDays(dueOn, 1));
  const pastDueAt = startOfDay(zone, addDays(dueOn, 1 + terms.past_due_after_days));
  const { currency } = price;
  const title = plans[plan]?.title ?? plan;
  const id = await insertInvoice(trx, {
    contractId: contract.id,
    plan,
    periodStartsAt: charge.startsAt,
    periodEndsAt: charge.endsAt,
    currency,
    unitAmount: amounts.total,
    issuedAt: now,
    dueAt,
    document: { number, pastDueAt },
  });
  const facts: DocumentFacts = {
    version: 1,
    kind: 'invoice',
    number,
    issued_on: issuedOn,
    due_on: dueOn,
    invoice: null,
    replaces: replaces?.get(firstDay),
    currency,
    seller,
    buyer: buyer.facts,
    line: {
      plan,
      title: isMoment(charge) ? (lines[0]?.title ?? plan) : title,
      description: isMoment(charge) ? null : (plans[plan]?.description ?? null),
      first_day: firstDay,
      last_day: lastDay,
    },
    lines: buildLines(charge, title, lines),
    prices: settings.tax.prices,
    ...amounts,
    payment: { text: payment.text ?? null, link: payment.link ?? null },
    record: {
      contract_id: contract.id,
      account_id: contract.accountId,
      signup_id: contract.signupId,
      period_starts_at: charge.startsAt.toISOString(),
      period_ends_at: charge.endsAt.toISOString(),
      issued_at: now.toISOString(),
      due_at: dueAt.toISOString(),
      past_due_at: pastDueAt.toISOString(),
      settings_version: version,
    },
  };
  await insertFacts(trx, id, numbers.invoice, facts, now, creditNote);
  const details = { ...trail?.details, number, contractId: contract.id };
  deferAuditEvent(trx, { ...trail, type: 'invoice.issued', details });
  return { id, number };
}

/**
 * Returns undefined if there are no charges and the quantity is 1. Then the document needs only `line`, as before there were
 * quantities and charges.
 */
function buildLines(period: Charge, title: string, lines: ChargeLine[]): DocumentFacts['lines'] {
  const { quantity, unitAmount: amount } = period.price;
  if (lines.length === 0 && quantity === 1) return undefined;
  return [
    ...(amount > 0 ? [{ title, quantity, amount }] : []),
    ...lines.map(({ id: charge, ...line }) => ({ ...line, charge })),
  ];
}

/** Issues a credit note for `total`, with the rate, buyer and days of the invoice. The caller stores how much was credited. */
export async function issueCreditNote(
  trx: Transaction<DB>,
  { version, settings }: Settings,
  invoice: Invoice,
  { facts: corrected, total, trail }: { facts: DocumentFacts; total: number; trail?: Trail },
): Promise<string> {
  const { numbers, seller } = settings;
  const { now, today } = await readDay(trx, settings);
  // A credit note is never dated before its invoice. The invoice may have a later date than today if the time zone has changed.
  const [, earliest = today] = [today, corrected.issued_on].sort();
  const { number, issuedOn } = await takeNumber(trx, numbers.credit_note, earliest);
  const facts: DocumentFacts = {
    ...corrected,
    kind: 'credit_note',
    number,
    issued_on: issuedOn,
    due_on: null,
    invoice: { number: corrected.number, issued_on: corrected.issued_on },
    replaces: undefined,
    // If only a part is credited, there are no `lines`: the only line is the credited amount.
    lines: total === corrected.total ? corrected.lines : undefined,
    seller: keepTaxIds(seller, corrected),
    ...shareCredit(corrected, await sumCredited(trx, invoice.id), total),
    payment: null,
    record: {
      ...corrected.record,
      issued_at: now.toISOString(),
      due_at: null,
      past_due_at: null,
      settings_version: version,
    },
  };
  await insertFacts(trx, invoice.id, numbers.credit_note, facts, now);
  const details = { ...trail?.details, number, invoice: corrected.number, contractId: invoice.contractId };
  deferAuditEvent(trx, { ...trail, type: 'credit_note.issued', details });
  return number;
}

/**
 * Returns the current seller. If the seller has lost a tax id that the tax category requires, returns the current seller with
 * the tax ids of the invoice (contract 7.71).
 */
function keepTaxIds(seller: Seller, { category, seller: before }: DocumentFacts): Seller {
  const isEnough = category === 'AE' ? seller.vat_id : (seller.vat_id ?? seller.tax_number);
  return isEnough ? seller : { ...seller, vat_id: before.vat_id, tax_number: before.tax_number };
}

async function readDay(trx: Transaction<DB>, { seller }: BillingSettings) {
  const now = await readClock(trx);
  const zone = seller.time_zone;
  return { zone, now, today: dayIn(zone, now) };
}

async function insertFacts(
  trx: Transaction<DB>,
  invoiceId: number,
  prefix: string,
  facts: DocumentFacts,
  issuedAt: Date,
  creditNote?: string,
): Promise<void> {
  await insertDocument(trx, {
    ...facts,
    ...{ invoiceId, prefix, issuedAt, settingsVersion: facts.record.settings_version },
    issuedOn: facts.issued_on,
    firstDay: facts.line.first_day,
    lastDay: facts.line.last_day,
    facts,
  });
  deferDocumentMails(trx, facts, issuedAt, creditNote);
}

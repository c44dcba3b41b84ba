// Issues documents: what they say, their number, their rows (contract 7.50 to 7.75). All of it in a transaction that has locked
// the contract, and the invoice that a credit note corrects. The number comes last, because whoever takes one holds up all
// others.
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
import { addDays, dayIn, startOfDay } from '../values/days.ts';
import type { DocumentFacts, Seller } from '../values/document-facts.ts';
import { type Buyer, findBuyer } from './buyers.ts';
import { deferDocumentMails } from './mails.ts';
import { findTax } from './tax.ts';

export type Settings = { version: number; settings: BillingSettings };

/** The settings in force. A transaction that issues reads them once. */
export const findSettings = (db: Database) => findSettingsInForce(db) as Promise<Settings | undefined>;

/** The seller's zone, or UTC without one. */
export const findZone = async (db: Database): Promise<string> => zoneOf(await findSettings(db));

export const zoneOf = (settings: Settings | undefined): string =>
  settings?.settings.seller.time_zone ?? 'UTC';

/** Why a period is blocked (contract 7.67). */
export type BlockedCode =
  | 'account_erased'
  | 'country_unread'
  | 'no_tax_rule'
  | 'tax_currency'
  | 'price_too_high';

/** What an invoice for the period would say of money, or why there can be none. Pure. */
export function computeInvoice(
  settings: BillingSettings,
  { price, startsAt, endsAt }: Charge,
  buyer: Pick<Buyer, 'taxed'>,
):
  | { blocked: BlockedCode }
  | (Amounts & Pick<DocumentFacts, 'category' | 'rate' | 'words'> & { firstDay: string; lastDay: string }) {
  const { seller } = settings;
  const firstDay = dayIn(seller.time_zone, startsAt);
  const lastDay = addDays(dayIn(seller.time_zone, endsAt), -1);
  if (price.unitAmount > maxAmount) return { blocked: 'price_too_high' };
  if (!buyer.taxed) return { blocked: 'country_unread' };
  const tax = findTax(settings, buyer.taxed, lastDay);
  if (!tax) return { blocked: 'no_tax_rule' };
  const amounts = taxPrice(price.unitAmount, tax.rate, settings.tax.prices);
  if (amounts.tax > 0 && price.currency !== seller.currency) return { blocked: 'tax_currency' };
  return { ...amounts, ...tax, firstDay, lastDay };
}

/** What the audit keeps of who has a document issued, if it is not the job. */
type Trail = Omit<AuditEvent, 'type'> | undefined;

/**
 * Issues an invoice for a period, whose price is above 0. `replaces` are lost numbers, by the first day of the period whose invoice takes
 * their place. The result is its number, or why the period is blocked.
 */
export async function issueInvoice(
  trx: Transaction<DB>,
  { version, settings }: Settings,
  contract: Contract,
  charge: Charge,
  { trail, replaces }: { trail?: Trail; replaces?: ReadonlyMap<string, string> | undefined } = {},
): Promise<{ id: number; number: string } | { blocked: BlockedCode }> {
  const { seller, terms, numbers, plans, payment } = settings;
  const { plan, price } = charge;
  const buyer = await findBuyer(trx, contract);
  if (!buyer) return { blocked: 'account_erased' };
  const drawn = computeInvoice(settings, charge, buyer);
  if ('blocked' in drawn) return drawn;
  const { net, tax, total, category, rate, words, firstDay, lastDay } = drawn;
  const { zone, now, today } = await readDay(trx, settings);
  const { number, issuedOn } = await takeNumber(trx, numbers.invoice, today);
  const dueOn = addDays(issuedOn, terms.days_to_pay);
  const dueAt = startOfDay(zone, addDays(dueOn, 1));
  const pastDueAt = startOfDay(zone, addDays(dueOn, 1 + terms.past_due_after_days));
  const { currency } = price;
  const id = await insertInvoice(trx, {
    contractId: contract.id,
    plan,
    periodStartsAt: charge.startsAt,
    periodEndsAt: charge.endsAt,
    currency,
    unitAmount: total,
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
      title: plans[plan]?.title ?? plan,
      description: plans[plan]?.description ?? null,
      first_day: firstDay,
      last_day: lastDay,
    },
    prices: settings.tax.prices,
    category,
    rate,
    words,
    net,
    tax,
    total,
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
  await insertFacts(trx, id, numbers.invoice, facts, now);
  const details = { ...trail?.details, number, contractId: contract.id };
  deferAuditEvent(trx, { ...trail, type: 'invoice.issued', details });
  return { id, number };
}

/**
 * Issues a credit note over `total` of an invoice, of which no more is credited already than `invoice.credited` says. Its rate,
 * its buyer and its days are those of the invoice. The caller writes down what is credited. The result is its number.
 */
export async function issueCreditNote(
  trx: Transaction<DB>,
  { version, settings }: Settings,
  invoice: Invoice,
  { facts: corrected, total, trail }: { facts: DocumentFacts; total: number; trail?: Trail },
): Promise<string> {
  const { numbers, seller } = settings;
  const { now, today } = await readDay(trx, settings);
  // The series of invoices may be ahead, or the zone have changed since.
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

/** The seller of now; with the tax ids of the invoice if those of now do not do for its tax (contract 7.76). */
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
): Promise<void> {
  await insertDocument(trx, {
    ...{ invoiceId, prefix, issuedAt, settingsVersion: facts.record.settings_version },
    number: facts.number,
    kind: facts.kind,
    issuedOn: facts.issued_on,
    firstDay: facts.line.first_day,
    lastDay: facts.line.last_day,
    currency: facts.currency,
    net: facts.net,
    tax: facts.tax,
    total: facts.total,
    category: facts.category,
    rate: facts.rate,
    facts,
  });
  deferDocumentMails(trx, facts, issuedAt);
}

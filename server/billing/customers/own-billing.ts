// What customers see of billing (contract 7.247 to 7.252). A person whose email address is not proved sees none of it.
import { listOpenChargesOf } from '../../../db/tables/contract-charges.ts';
import { findDocumentOf } from '../../../db/tables/documents.ts';
import { findInvoice, hasOverdueInvoice } from '../../../db/tables/invoices.ts';
import {
  type DocumentSort,
  listOpenOf,
  listOwnDocuments,
  listOwnUnused,
  type OwnDocument,
} from '../../../db/tables/own-documents.ts';
import { type Contract, endsByReport, listContracts } from '../../../db/tables/service-contracts.ts';
import { listWaitingPeriodsOf } from '../../../db/tables/waiting-periods.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { AppError } from '../../basics/errors.ts';
import { readPage } from '../../basics/page.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Actor } from '../../identity/session/actor.ts';
import { isRunning, presentStatus } from '../contracts/contract-states.ts';
import { findLastDayIn } from '../contracts/last-day.ts';
import { buildTaxedBuyer } from '../invoices/buyers.ts';
import { findSettings, findZone, type Settings, zoneOf } from '../invoices/issue.ts';
import { type Asked, previewDocuments } from '../invoices/preview.ts';
import { invoicesPastDue } from '../settings/settings.ts';
import { listCountries, nameCountry } from '../values/countries.ts';
import { type DocumentFacts, hasXml, listLines } from '../values/document-facts.ts';
import { fillPaymentLink } from '../values/payment-link.ts';
import { findPeriodsEnd, listPeriods } from '../values/periods.ts';
import { describeEnd, isCanceled, mayCancel } from './cancel-contract.ts';
import { describeOwnDetails } from './own-details.ts';

type Deps = Pick<Dependencies, 'db' | 'now'>;

const mostOpen = 100;

/**
 * Returns undefined if the person's email address is not proved. `before` is the `next` of the previous page. On the last page,
 * `next` is null.
 */
export async function describeOwnBilling(
  deps: Deps,
  actor: Actor,
  { before, sort = '-issued' }: { before?: string | undefined; sort?: DocumentSort | undefined } = {},
) {
  const { db, now } = deps;
  const { account, emailVerifiedAt } = actor.session.user;
  if (!emailVerifiedAt) return undefined;
  const accountId = account.id;
  const [settings, contracts, open, documents, unused, details] = await Promise.all([
    findSettings(db),
    listContracts(db, accountId),
    listOpenOf(db, { accountId, limit: mostOpen + 1 }),
    readPage((limit) => listOwnDocuments(db, { accountId, sort, before, limit })),
    listOwnUnused(db, accountId),
    describeOwnDetails(deps, actor),
  ]);
  const ids = contracts.map(({ id }) => id);
  const [waiting, charges] = await Promise.all([listWaitingPeriodsOf(db, ids), listOpenChargesOf(db, ids)]);
  const buyer = { taxed: buildTaxedBuyer(details) };
  const toPay = open.slice(0, mostOpen).map((invoice) => describeInvoice(invoice, now()));
  return {
    contracts: contracts.map((contract) => {
      const { id } = contract;
      const asked = { contract, waiting: waiting.get(id) ?? [], open: charges.get(id) ?? [], buyer };
      const next = findNextCharge(settings, asked, now());
      return describeContract(settings, contract, { now: now(), next });
    }),
    /** The part of the customer's payments that is not allocated, by currency. */
    unused: unused.map(({ currency, amount }) => toAmount(currency, amount)),
    open: toPay.map((invoice) => ({ ...invoice, ...describePayment(settings, invoice) })),
    isMoreOpen: open.length > mostOpen,
    howToPay: toPay.length > 0 ? describeAccount(settings) : null,
    documents: documents.page.map((each) =>
      each.kind === 'invoice' ? describeInvoice(each, now()) : describeCreditNote(each),
    ),
    next: documents.last?.number ?? null,
    sort,
    details,
    countries: listCountries(),
  };
}

/** Pages expect a day as a `Date` at midnight UTC. */
const toDate = (day: string) => new Date(`${day}T00:00:00Z`);

const toAmount = (currency: string, unitAmount: number) => ({
  currency,
  unitAmount,
  minorDigits: minorDigits(currency),
});

function describeContract(
  settings: Settings | undefined,
  contract: Contract,
  { now, next }: { now: Date; next: ReturnType<typeof findNextCharge> },
) {
  const { id, plan, price, cancelsAt } = contract;
  const end = describeEnd(zoneOf(settings), contract, now);
  const goesOn = isRunning(end.status);
  const named = settings?.settings.plans[plan];
  return {
    id,
    plan,
    title: named?.title ?? null,
    description: named?.description ?? null,
    goOn: end.status === 'trialing' || end.status === 'expired' ? describeGoOn(settings, plan) : null,
    ...end,
    price: price && {
      ...toAmount(price.currency, price.unitAmount),
      interval: price.interval,
      quantity: price.quantity,
      each: toAmount(price.currency, price.unitAmount / price.quantity),
    },
    isBeforeTax: settings?.settings.tax.prices === 'net',
    canCancel: goesOn && !isCanceled(contract, now) && mayCancel(settings),
    canKeep: goesOn && cancelsAt !== null && !endsByReport(contract),
    isRunning: goesOn,
    next,
  };
}

/**
 * Returns how a customer can continue after a trial: with the plan's link, or by asking the seller if the plan has no link.
 * Returns null if there is no seller.
 */
function describeGoOn(settings: Settings | undefined, plan: string) {
  if (!settings) return null;
  const { seller, plans } = settings.settings;
  return { link: plans[plan]?.link ?? null, name: seller.name, email: seller.email };
}

/**
 * Returns a function for the history that a person in the account reads. For a change of a contract's end, the function returns
 * the contract's last day.
 */
export async function readLastDays({ db, now }: Deps, accountId: string) {
  const [zone, contracts] = await Promise.all([findZone(db), listContracts(db, accountId)]);
  return findLastDayIn(zone, contracts, now());
}

/** 12 would be too few: a yearly period from 28 February to 29 February is longer than 12 months. */
const monthsAhead = 13;

/** Returns the contract's next invoice, or null if none is known. A blocked invoice has no amount. */
function findNextCharge(settings: Settings | undefined, asked: Asked, now: Date) {
  if (!settings) return null;
  const { documents, held } = previewDocuments(settings.settings, asked, { now, months: monthsAhead });
  const [first] = documents;
  if (!first) return held && { state: 'held' as const };
  if (presentStatus(asked.contract, now) === 'past_due' && !invoicesPastDue(settings.settings)) {
    const end = findPeriodsEnd(zoneOf(settings), asked.contract);
    const charges = [...asked.waiting, ...listPeriods(asked.contract, now, end).charges];
    const waiting = charges.flatMap(({ price }) => (price.unitAmount > 0 ? [price] : []));
    const currencies = [...new Set(waiting.map(({ currency }) => currency))];
    const sums = currencies.map((currency) => {
      const own = waiting.filter((price) => price.currency === currency);
      return toAmount(
        currency,
        own.reduce((sum, { unitAmount }) => sum + unitAmount, 0),
      );
    });
    return { state: 'after_payment' as const, periods: waiting.length, sums };
  }
  const { currency, tax, total, rate, issued_on } = first;
  return {
    state: 'comes' as const,
    on: toDate(issued_on),
    total: toAmount(currency, total),
    /** In hundredths of a percent. */
    taxRate: tax > 0 ? rate : null,
  };
}

function describeInvoice(invoice: OwnDocument, now: Date) {
  const { number, plan, currency, unitAmount, open, status, issuedAt, dueAt } = invoice;
  const facts = invoice.facts as DocumentFacts | null;
  return {
    kind: 'invoice' as const,
    number,
    title: facts?.line.title ?? plan,
    issuedOn: facts ? toDate(facts.issued_on) : issuedAt,
    dueOn: facts?.due_on ? toDate(facts.due_on) : dueAt,
    amount: toAmount(currency, unitAmount),
    open: toAmount(currency, open),
    status,
    isOverdue: status === 'open' && dueAt <= now,
    hasDocument: facts !== null,
    hasXml: facts !== null && hasXml(facts),
    corrects: null,
  };
}

function describeCreditNote({ number, facts: kept }: OwnDocument) {
  const facts = kept as DocumentFacts;
  return {
    kind: 'credit_note' as const,
    number,
    title: facts.line.title,
    issuedOn: toDate(facts.issued_on),
    dueOn: null,
    amount: toAmount(facts.currency, facts.total),
    open: null,
    status: null,
    isOverdue: false,
    hasDocument: true,
    hasXml: hasXml(facts),
    corrects: facts.invoice?.number ?? null,
  };
}

/**
 * Takes the bank account from the settings in force, not from the document, because the document's account may be closed by
 * now.
 */
function describeAccount(settings: Settings | undefined) {
  if (!settings) return null;
  const { seller, payment } = settings.settings;
  const { name, iban = null, bic = null } = seller;
  return { text: payment.text ?? null, recipient: name, iban, bic };
}

function describePayment(
  settings: Settings | undefined,
  { number, open }: { number: string; open: { currency: string; unitAmount: number } },
) {
  const link = settings?.settings.payment.link;
  const due = { number, amount: open.unitAmount, currency: open.currency };
  return { payLink: link === undefined ? null : fillPaymentLink(link, due) };
}

export async function hasOwnOverdue(
  { db, now }: Deps,
  { account, emailVerifiedAt }: Actor['session']['user'],
): Promise<boolean> {
  return emailVerifiedAt !== null && hasOverdueInvoice(db, account.id, now());
}

/** Returns a document as a page shows it, with its lines and the English names of its countries. Leaves out `record`. */
export function describeDocument({ record: _record, ...facts }: DocumentFacts) {
  const codes = [facts.seller.address.country, facts.buyer.address?.country ?? facts.buyer.country].flatMap(
    (code) => code ?? [],
  );
  return {
    ...facts,
    shown: listLines(facts),
    countries: Object.fromEntries(codes.map((code) => [code, nameCountry(code)])),
  };
}

/** Throws 404 `not_found`. */
export async function getOwnDocument({ db, now }: Deps, { session }: Actor, number: string) {
  const { account, emailVerifiedAt } = session.user;
  const entry = emailVerifiedAt ? await findDocumentOf(db, number, account.id) : undefined;
  if (!entry) throw new AppError('not_found');
  const facts = entry.facts as DocumentFacts;
  const shown = {
    number,
    document: describeDocument(facts),
    hasXml: hasXml(facts),
    minorDigits: minorDigits(facts.currency),
  };
  const invoice = entry.kind === 'invoice' ? await findInvoice(db, number) : undefined;
  if (!invoice) return { ...shown, kind: 'credit_note' as const };
  const { id: _id, contractId: _contract, pastDueAt: _pastDueAt, ...said } = invoice;
  const settings = invoice.status === 'open' ? await findSettings(db) : undefined;
  return {
    ...said,
    ...shown,
    kind: 'invoice' as const,
    isOverdue: invoice.status === 'open' && invoice.dueAt <= now(),
    howToPay: describeAccount(settings),
    ...describePayment(settings, { number, open: { currency: invoice.currency, unitAmount: invoice.open } }),
  };
}

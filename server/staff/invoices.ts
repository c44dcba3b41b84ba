// What staff see of a document, and what administrators see of unallocated money (contract 7.151, 7.153 and 7.156).
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/postgres/client.ts';
import { listAllocations, listPaymentsOf } from '../../db/tables/allocations.ts';
import { findBillingDetails, noDetails } from '../../db/tables/billing-details.ts';
import { findFacts, listCreditNotes } from '../../db/tables/documents.ts';
import { findReplacement } from '../../db/tables/invoice-lists.ts';
import { findBuyerOf, findInvoice, findInvoiceToPay, type Invoice } from '../../db/tables/invoices.ts';
import { findPayment, listUnallocated, type Payment } from '../../db/tables/payments.ts';
import { listUsersOfAccount } from '../../db/tables/users.ts';
import { digestBasis, requireRight } from '../acts/act.ts';
import type { Given } from '../acts/fields.ts';
import { mayAct, mayLookAtDocuments } from '../acts/rights.ts';
import { countLook, type Staff } from '../acts/staff.ts';
import { minorDigits } from '../basics/currencies.ts';
import { AppError } from '../basics/errors.ts';
import { describeDocument } from '../billing/customers/own-billing.ts';
import { findZone } from '../billing/invoices/issue.ts';
import { readPreview } from '../billing/invoices/preview.ts';
import { compareReissue } from '../billing/payments/reissue.ts';
import { dayIn } from '../billing/values/days.ts';
import { type DocumentFacts, hasXml } from '../billing/values/document-facts.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { buildForms } from './act-forms.ts';
import { readKeys } from './find-people.ts';
import {
  basisOfCredit,
  basisOfInvoice,
  basisOfPayment,
  basisOfReissue,
  paymentActs,
} from './payment-acts.ts';

/**
 * Counts as a look at the buyer. Throws 404 `not_found` and 429 `rate_limited`. A manager also gets 404 `not_found` if the
 * buyer's account is erased or has staff in it.
 */
export async function lookAtDocument(deps: Dependencies, staff: Staff, number: string) {
  const found = await findDocument(deps, staff, number);
  if (!found) throw new AppError('not_found');
  const { facts, invoice, buyer } = found;
  await countLook(deps, staff, { userId: buyer.userId, number: facts?.number ?? invoice.number });
  return found;
}

/** Finds only documents that this member of the staff may look at. */
async function findDocument({ db }: Pick<Dependencies, 'db'>, { session }: Staff, number: string) {
  const facts = (await findFacts(db, number)) as DocumentFacts | undefined;
  const invoice = await findInvoice(db, facts?.invoice?.number ?? number);
  if (!invoice) return undefined;
  const buyer = await findBuyerOf(db, invoice);
  const people = buyer.accountId === null ? [] : await listUsersOfAccount(db, buyer.accountId);
  return mayLookAtDocuments(session.user.role, people) ? { facts, invoice, buyer } : undefined;
}

/** If a text that somebody searched for is the number of a document, returns that number. Otherwise returns null. */
export async function findSearched(deps: Dependencies, staff: Staff, q: string): Promise<string | null> {
  const number = readKeys(q.trim()).text.toUpperCase();
  return (await findDocument(deps, staff, number)) ? number : null;
}

/** Managers get no forms. Throws what `lookAtDocument` throws. */
export async function describeForStaff(deps: Dependencies, staff: Staff, number: string) {
  const { db, now } = deps;
  const { facts, invoice, buyer } = await lookAtDocument(deps, staff, number);
  const shown = {
    buyer,
    minorDigits: minorDigits(invoice.currency),
    document: facts ? describeDocument(facts) : null,
    hasXml: facts !== undefined && hasXml(facts),
  };
  if (facts?.kind === 'credit_note') return { ...shown, kind: facts.kind, number };
  const [creditNotes, payments, replacement, today] = await Promise.all([
    listCreditNotes(db, invoice.id),
    listPaymentsOf(db, invoice.id),
    invoice.status === 'void' ? findReplacement(db, invoice) : undefined,
    findZone(db).then((zone) => dayIn(zone, now())),
  ]);
  const { contractId: _contract, ...said } = invoice;
  const mayChange = mayAct(paymentActs.credit.right, staff.session.user, buyer);
  const sides = await compareReissue(db, invoice);
  const details = buyer.accountId ? await findBillingDetails(db, buyer.accountId) : undefined;
  const editable = buyer.accountId && !details?.waiting ? (details ?? noDetails) : null;
  const seen = digestBasis(basisOfInvoice(invoice));
  const hiddenOf: Record<string, Given> = {
    // The id of the payment that the form records. If the form is sent twice, the payment is recorded once.
    pay: { seen, payment: uuidv7() },
    credit: { seen: digestBasis(basisOfCredit(invoice)) },
    reissue: { seen: digestBasis(basisOfReissue(invoice, sides, details)) },
  };
  return {
    ...said,
    ...shown,
    kind: 'invoice' as const,
    isOverdue: invoice.status === 'open' && invoice.dueAt <= now(),
    creditNotes,
    payments,
    /** The number of the invoice that was issued in place of this one. */
    replacement: replacement ?? null,
    today,
    mayChange,
    forms: mayChange
      ? buildForms(
          'invoice',
          { ...invoice, today, sides, details: editable },
          (intent) => hiddenOf[intent] ?? { seen },
        )
      : [],
  };
}

/** `preview` is null without a seller. Throws 404 `not_found`. */
export async function describePreview({ db }: Dependencies, signup: string, months: number) {
  const preview = await readPreview(db, signup, months).catch((error) => {
    if (error instanceof AppError && error.code === 'not_configured') return null;
    throw error;
  });
  const documents = preview?.documents.map((each) => ({ ...each, minorDigits: minorDigits(each.currency) }));
  return { preview: preview && { documents: documents ?? [], held: preview.held } };
}

/** Why money is not allocated. The page has the words. */
export type Waits =
  | 'refund_first'
  | 'refund_too_much'
  | 'no_number'
  | 'unknown_number'
  | 'other_currency'
  | 'is_void'
  | 'is_paid'
  | 'left';

const most = 100;

/**
 * Lists payments with money that is not allocated, the oldest first. `freedBy` is the invoice whose credit has freed some of
 * the money. `waits` is null if the credit has freed all of the money. `buyer` is the name of the buyer whose invoice the payer
 * named. The forms suggest the invoice `pays`, if it is open.
 * Throws 404 `not_found` for managers.
 */
export async function listWaiting({ db }: Dependencies, staff: Staff, pays: string | undefined) {
  requireRight(staff, paymentActs.allocate.right);
  const named = pays && (await findInvoice(db, readKeys(pays).text));
  const suggested = named && named.open > 0 ? named.number : undefined;
  const found = await listUnallocated(db, most + 1);
  const shown = found.slice(0, most);
  const allocations = await listAllocations(
    db,
    shown.map(({ id }) => id),
  );
  const payments = [];
  // Payments are explained one after the other, so that a page takes no more than one connection.
  for (const payment of shown) {
    const freed = findFreed(allocations.filter(({ payment: id }) => id === payment.id));
    const invoice =
      payment.invoiceNumber === null ? undefined : await findInvoiceToPay(db, payment.invoiceNumber);
    const waits = freed && freed.amount >= payment.unallocated ? null : await explain(db, payment, invoice);
    const seen = digestBasis(basisOfPayment(payment));
    payments.push({
      ...payment,
      minorDigits: minorDigits(payment.currency),
      freedBy: freed?.number ?? null,
      buyer: invoice ? (await findBuyerOf(db, invoice)).name : null,
      waits,
      forms: buildForms('payment', { ...payment, waits, suggested }, () => ({ seen })),
    });
  }
  return { payments, more: found.length > most };
}

/**
 * If an invoice is credited, money that paid it becomes unallocated. Returns how much of that money is still unused, and the
 * invoice that was credited last. A refund takes allocated money only if its payment has no unallocated money. So if a payment
 * has unallocated money now, a credit has freed it, and not a refund.
 */
function findFreed(
  allocations: { number: string; amount: number }[],
): { number: string; amount: number } | undefined {
  let freed: { number: string; amount: number } | undefined;
  for (const { number, amount } of allocations) {
    const left = (freed?.amount ?? 0) - amount;
    if (amount < 0) freed = { number, amount: left };
    else freed = freed && left > 0 ? { ...freed, amount: left } : undefined;
  }
  return freed;
}

async function explain(
  db: Database,
  { of, currency, invoiceNumber }: Payment,
  invoice: Invoice | undefined,
): Promise<Waits> {
  if (of !== null) return (await findPayment(db, of)) ? 'refund_too_much' : 'refund_first';
  if (invoiceNumber === null) return 'no_number';
  if (!invoice) return 'unknown_number';
  if (invoice.currency !== currency) return 'other_currency';
  if (invoice.status === 'void') return 'is_void';
  return invoice.status === 'paid' ? 'is_paid' : 'left';
}

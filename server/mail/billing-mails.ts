// Decides who gets mails about contracts, documents and money, and whether the mails are still true (contract 7.270 to 7.282).
import { inTransaction } from '../../db/postgres/transactions.ts';
import {
  copyKeyOf,
  findAllocated,
  findMailbox,
  findPdf,
  findReminders,
  findUnsent,
  isSent,
  type Mailbox,
} from '../../db/tables/billing-mails.ts';
import { findSettingsInForce } from '../../db/tables/billing-settings.ts';
import { findFacts } from '../../db/tables/documents.ts';
import { findReplacement } from '../../db/tables/invoice-lists.ts';
import { findInvoice, type Invoice, unmarkReminded } from '../../db/tables/invoices.ts';
import {
  type BillingMailKind,
  type ContractMailKind,
  type DocumentMailKind,
  isAboutContract,
} from '../../db/tables/mail-kinds.ts';
import { deferBillingMail, type MailRow } from '../../db/tables/mails.ts';
import { findBillingPause } from '../../db/tables/restores.ts';
import { type Contract, findContract } from '../../db/tables/service-contracts.ts';
import { findUserById } from '../../db/tables/users.ts';
import { sayDay } from '../basics/day-words.ts';
import { daysAfter } from '../basics/instant.ts';
import { isRunning, presentStatus } from '../billing/contracts/contract-states.ts';
import { findLastDay } from '../billing/contracts/last-day.ts';
import type { BillingSettings } from '../billing/settings/settings.ts';
import { spellIban } from '../billing/values/bank-account.ts';
import { isMoment } from '../billing/values/charges.ts';
import { formatAmount } from '../billing/values/decimals.ts';
import type { DocumentFacts } from '../billing/values/document-facts.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { createPasswordToken } from '../identity/ground/address-proof.ts';
import { mayEnter } from '../identity/person/entry.ts';
import { type BillingWords, billingMails } from './billing-words.ts';
import type { MailMessage } from './layout.ts';
import { letters } from './letters.ts';
import type { Message } from './mailer.ts';
import type { Ordered } from './notice-words.ts';

/** `isCopy` marks a copy for the person. Copies are sent until somebody has confirmed the address for invoices. */
type Mail<Kind> = Pick<MailRow, 'id' | 'details'> & { kind: Kind; isCopy: boolean };

type BillingMessage = Pick<Message, 'to' | 'replyTo' | 'attachments' | 'includes'> & { message: MailMessage };

// Returns when to look for a PDF again. The PDF is made within seconds, or if that fails, at the next try. The pause is 5
// seconds to 5 minutes.
const waitFrom = (now: Date, nextTryAt: Date | null | undefined) =>
  new Date(
    now.getTime() + Math.min(Math.max(5_000, (nextTryAt?.getTime() ?? 0) - now.getTime()), 5 * 60_000),
  );

const longestWaitMs = 24 * 60 * 60 * 1_000;

const daysToProve = 3;

/** Returns the time until which mails about the first documents wait for the mailbox to be proved (contract 7.500). */
function waitForProof({ firstIssuedAt }: Mailbox, { issuedAt, dueAt }: Invoice): Date {
  const ends = [daysAfter(firstIssuedAt ?? issuedAt, daysToProve), daysAfter(dueAt, -1)];
  return new Date(Math.min(...ends.map((end) => end.getTime())));
}

/**
 * `until` means that the mail waits, for example for its PDF. Undefined means that the mail is no longer true, or that nobody
 * should get it.
 */
export async function composeBillingMail(
  deps: Dependencies,
  { id, kind, details: { copy, ...own } }: Omit<Mail<BillingMailKind>, 'isCopy'>,
): Promise<BillingMessage | { until: Date } | undefined> {
  // Billing was paused after a restore at the moment when this mail was written or claimed. A trigger is putting the mail on
  // hold.
  if (await findBillingPause(deps.db)) return { until: waitFrom(deps.now(), undefined) };
  const mail = { id, details: copy ? JSON.parse(copy) : own, isCopy: copy !== undefined };
  return isAboutContract(kind)
    ? composeAboutContract(deps, { ...mail, kind })
    : composeAboutDocument(deps, { ...mail, kind });
}

async function composeAboutDocument(
  deps: Dependencies,
  { id, kind, details, isCopy }: Mail<DocumentMailKind>,
): Promise<BillingMessage | { until: Date } | undefined> {
  const { db, config, now } = deps;
  const number = details.document ?? '';
  const facts = (await findFacts(db, number)) as DocumentFacts | undefined;
  const invoice = facts && (await findInvoice(db, facts.invoice?.number ?? number));
  if (!facts || !invoice) return undefined;
  const { received, allocated } = details.payment
    ? await findAllocated(db, { payment: details.payment, invoiceId: invoice.id })
    : { received: 0, allocated: 0 };
  const mailbox = details.archive
    ? config.billingArchiveEmail && {
        email: config.billingArchiveEmail,
        isProved: true,
        isForInvoices: false,
        hasLogin: false,
        hasOther: false,
        firstIssuedAt: null,
      }
    : await findMailbox(db, facts.record.contract_id, { id, kind, isCopy });
  if (!mailbox || !isTrue(kind, invoice, allocated)) {
    const which = reminders[kind];
    // The reminder is not sent now, but may become due again, for example if the invoice is reopened or the buyer returns.
    if (which && !isCopy) await unmarkReminded(db, number, which);
    return undefined;
  }
  if (mailbox.hasOther) return undefined;
  const other = await findOtherReminder(db, kind, number, now());
  if (other) return other === 'is later' ? undefined : { until: other };
  const { email: to, isProved, isForInvoices, hasLogin } = mailbox;
  const { creditNote } = details;
  const included = await findReissueMail(db, { kind, details, isCopy }, invoice);
  // When an invoice is issued again, the credit note goes out in the mail of the new invoice. So the credit note's own mail
  // waits for the invoice's mail.
  if (kind === 'credit_note_issued' && included) return { until: waitFrom(now(), included.nextTryAt) };
  // The mail of the new invoice has just gone out. That has marked the mail of the credit note as sent, although this worker
  // had claimed it.
  if (kind === 'credit_note_issued' && (await isSent(db, id))) return { until: now() };
  if (kind === 'invoice_issued' || kind === 'credit_note_issued') {
    const until = waitForProof(mailbox, invoice);
    if (!isProved && until > now()) return { until };
    // If the address for invoices was proved only while this mail waited, nothing has queued a copy for the user. So the copy
    // is added here (contract 7.401).
    const { contractId } = invoice;
    if (isForInvoices && !isCopy) await addCopy(deps, { kind, details, contractId });
    if (isForInvoices && !isCopy && included && creditNote)
      await addCopy(deps, { kind: 'credit_note_issued', details: { document: creditNote }, contractId });
  }
  const numbers = included && creditNote ? [number, creditNote] : [number];
  const found = isProved ? await Promise.all(numbers.map((each) => findPdf(db, each))) : [];
  // A late mail goes out without the PDF, but only after two tries to make it: after one try, the PDF may still come. A copy
  // for the archive always waits, because it is worthless without the PDF.
  const isLate = now().getTime() - Date.parse(facts.record.issued_at) > longestWaitMs;
  const awaited = found.find((file) => !file?.pdf && (details.archive || !isLate || (file?.tries ?? 0) < 2));
  if (awaited) return { until: waitFrom(now(), awaited.nextTryAt) };
  const attachments = found.flatMap((file, at) =>
    file?.pdf ? [{ name: `${numbers[at]}.pdf`, type: 'application/pdf', bytes: file.pdf }] : [],
  );
  const { currency } = facts;
  const ofInvoice = facts.invoice ? await findFacts(db, invoice.number) : facts;
  const dueOn = (ofInvoice as DocumentFacts | undefined)?.due_on;
  // As on our pages, the mail names the bank account in force, and not the one in the document (contract 7.248).
  const account = ((await findSettingsInForce(db))?.settings as BillingSettings | undefined)?.seller;
  const replyTo = account?.email ?? facts.seller.email;
  const message = billingMails[kind]({
    ...sayDocument(facts, account, config.baseUrl),
    hasLogin,
    setPassword: hasLogin ? await createLink(deps, { mailId: id, email: to }) : undefined,
    sellerEmail: replyTo,
    corrects: await findCorrected(db, creditNote, found[1] && (found[1].pdf ? 'attached' : 'not_made')),
    isVoid: invoice.status === 'void',
    open: invoice.open > 0 ? formatAmount(invoice.open, currency) : undefined,
    due: dueOn ? sayDay(dueOn) : '',
    received: formatAmount(received, currency),
    pays: allocated < received ? formatAmount(allocated, currency) : undefined,
    pdf: !isProved ? 'unverified' : found[0]?.pdf ? 'attached' : 'not_made',
  });
  const why = details.archive ? toArchive : isForInvoices ? toInvoices : undefined;
  return {
    ...{ to, replyTo, attachments, includes: included?.id },
    message: {
      ...message,
      ...(why && { why }),
      ...(details.archive &&
        kind === 'invoice_issued' &&
        !isAboutCharge(facts.record) &&
        noteCopy(message, facts)),
    },
  };
}

const addCopy = (
  { db, now }: Dependencies,
  mail: Omit<Parameters<typeof deferBillingMail>[1], 'key' | 'now'>,
) =>
  inTransaction(db, { by: 'service', cause: 'mails' }, async (trx) =>
    deferBillingMail(trx, { ...mail, key: `${mail.kind}:${mail.details.document}`, now: now() }),
  );

/** Adds a link to set a password, in place of the link to the document (contract 9.385). */
async function createLink({ db, config, now }: Dependencies, reader: { mailId: string; email: string }) {
  const { path, life = '', lifeMs = 0 } = letters.welcome;
  const expiresAt = new Date(now().getTime() + lifeMs);
  const token = await createPasswordToken(db, { ...reader, expiresAt });
  return token ? { url: `${config.baseUrl}${path}?token=${token}`, life } : undefined;
}
/**
 * Returns whether a charge gives the document its title. Such a title comes from the CRM, and mails must not contain it (contract
 * 7.282).
 */
const isAboutCharge = ({ period_starts_at, period_ends_at }: DocumentFacts['record']) =>
  isMoment({ startsAt: new Date(period_starts_at), endsAt: new Date(period_ends_at) });

/** Returns the parts of a mail that come from the facts of a document. `account` is the seller's bank account in force. */
export const sayDocument = (
  { number, invoice, replaces, line, total, currency, seller, record }: DocumentFacts,
  account: BillingSettings['seller'] | undefined,
  baseUrl: string,
): BillingWords => ({
  ...nothing(baseUrl),
  seller: seller.name,
  sellerEmail: seller.email,
  bank: account?.iban
    ? { recipient: account.name, iban: spellIban(account.iban), bic: account.bic }
    : undefined,
  number,
  invoice: invoice?.number ?? number,
  replaces,
  plan: isAboutCharge(record) ? 'what was ordered' : line.title,
  period: `${sayDay(line.first_day)} to ${sayDay(line.last_day)}`,
  total: formatAmount(total, currency),
});

/**
 * When an invoice is issued again, there is a mail about the new invoice and a mail about the credit note. For one of these
 * mails, finds the other one if it is unsent (contract 7.464). The archive gets both mails separately.
 */
async function findReissueMail(
  db: Dependencies['db'],
  { kind, details, isCopy }: Omit<Mail<DocumentMailKind>, 'id'>,
  invoice: Invoice,
) {
  const isCredit = kind === 'credit_note_issued';
  const number = isCredit ? await findReplacement(db, invoice) : details.creditNote;
  if (!number || details.archive) return undefined;
  const key = `${isCredit ? 'invoice' : 'credit_note'}_issued:${number}`;
  return findUnsent(db, isCopy ? copyKeyOf(key) : key);
}

/** Returns the invoice that a credit note has just canceled, for the mail about the new invoice. */
async function findCorrected(
  db: Dependencies['db'],
  creditNote: string | undefined,
  pdf: NonNullable<BillingWords['corrects']>['pdf'],
): Promise<BillingWords['corrects']> {
  if (creditNote === undefined) return undefined;
  const found = (await findFacts(db, creditNote)) as DocumentFacts | undefined;
  return found?.invoice ? { invoice: found.invoice.number, creditNote: found.number, pdf } : undefined;
}

/** Adds to the mail the option that `billing:resume` needs if a restore loses the invoice of the period (contract 7.421). */
const noteCopy = ({ facts: rows = [] }: MailMessage, { number, line, record }: DocumentFacts) => ({
  facts: [...rows, ['After a restore', `--lost ${number}:${record.signup_id}:${line.first_day}`]] as [
    string,
    string,
  ][],
});

const toArchive =
  'You received this email because a copy of each invoice and credit note goes to this address.';
const toInvoices = 'You received this email because this is the address for invoices of an account.';

const reminders: Partial<Record<DocumentMailKind, 1 | 2>> = { invoice_reminder_1: 1, invoice_reminder_2: 2 };

const betweenRemindersMs = 6 * 24 * 60 * 60 * 1_000;

// The first reminder is void as soon as the second is written. The second waits while the first is still being tried, and then
// until six days after the first was sent (contract 7.275).
async function findOtherReminder(
  db: Dependencies['db'],
  kind: DocumentMailKind,
  number: string,
  now: Date,
): Promise<'is later' | Date | undefined> {
  const which = reminders[kind];
  const found = which && (await findReminders(db, number));
  if (!found) return undefined;
  if (which === 1) return found.reminded > 1 ? 'is later' : undefined;
  const { sentAt, nextTryAt } = found;
  const until = sentAt ? new Date(sentAt.getTime() + betweenRemindersMs) : nextTryAt;
  return until && until > now ? until : undefined;
}

/**
 * Returns whether what the mail says is still true. A mail about an issued document stays true. A reminder or a thank-you may be
 * out of date.
 */
function isTrue(kind: DocumentMailKind, { status }: Invoice, allocated: number): boolean {
  if (reminders[kind]) return status === 'open';
  return kind !== 'payment_received' || allocated > 0;
}

async function composeAboutContract(
  { db, config, now }: Dependencies,
  { id, kind, details, isCopy }: Mail<ContractMailKind>,
): Promise<BillingMessage | undefined> {
  const contract = await findContract(db, { id: details.contract ?? '' });
  const mailbox = contract && (await findMailbox(db, contract.id, { id, kind, isCopy }));
  const settings = (await findSettingsInForce(db))?.settings as BillingSettings | undefined;
  if (!contract || !mailbox || mailbox.hasOther || !settings) return undefined;
  const status = presentStatus(contract, now());
  if (!isStillSo[kind](contract, details, status)) return undefined;
  const { plans, seller, tax } = settings;
  const { plan, price } = contract;
  const lastDay = isRunning(status) && findLastDay(seller.time_zone, contract, now());
  const message = billingMails[kind]({
    ...nothing(config.baseUrl),
    hasLogin: mailbox.hasLogin,
    seller: seller.name,
    sellerEmail: seller.email,
    goOn: plans[plan]?.link,
    plan: plans[plan]?.title ?? plan,
    lastDay: lastDay ? sayDay(lastDay) : undefined,
    isBySupport: details.by === 'support',
    hasSupport: config.supportUrl !== undefined,
    price: price
      ? `${formatAmount(price.unitAmount, price.currency)} a ${price.interval}${tax.prices === 'net' ? ', before tax' : ''}`
      : undefined,
  });
  return {
    ...{ to: mailbox.email, replyTo: seller.email },
    message: mailbox.isForInvoices ? { ...message, why: toInvoices } : message,
  };
}

export const findSellerName = async (db: Dependencies['db']): Promise<string | undefined> =>
  ((await findSettingsInForce(db))?.settings as BillingSettings | undefined)?.seller.name;

/**
 * Returns what the settings say about a contract's plan, for a mail about a new contract. The mail quotes nothing from the order,
 * because anybody can order with somebody else's address.
 */
export async function findOrdered({ db, clients }: Dependencies, contractId: string): Promise<Ordered> {
  const contract = await findContract(db, { id: contractId });
  // Settings that an early version stored may lack members. The mail must still be sent.
  const settings = (await findSettingsInForce(db))?.settings as Partial<BillingSettings> | undefined;
  const reader = contract && (await findUserById(db, contract.userId));
  // The mail must not promise a product that would then refuse its reader.
  const products = clients
    .list()
    .filter((client) => client.listedTo.includes('contract') && reader && mayEnter(client, reader));
  return {
    plan: contract && settings?.plans?.[contract.plan]?.title,
    seller: settings?.seller?.name,
    products: products.map(({ title }) => title).join(', ') || undefined,
  };
}

const isStillSo: Record<
  ContractMailKind,
  (contract: Contract, details: MailRow['details'], status: Contract['status']) => boolean
> = {
  trial_ends: ({ cancelsAt, trialEndsAt }, { ends }, status) =>
    status === 'trialing' && cancelsAt === null && trialEndsAt?.toISOString() === ends,
  contract_cancel_asked: ({ cancelsAt }, _, status) => cancelsAt !== null || status === 'canceled',
  contract_kept: ({ cancelsAt }, _, status) => cancelsAt === null && isRunning(status),
};

const nothing = (baseUrl: string): BillingWords => ({
  baseUrl,
  hasLogin: false,
  setPassword: undefined,
  seller: '',
  sellerEmail: '',
  bank: undefined,
  number: '',
  invoice: '',
  replaces: undefined,
  corrects: undefined,
  isVoid: false,
  plan: '',
  period: '',
  total: '',
  open: undefined,
  due: '',
  received: '',
  pays: undefined,
  lastDay: undefined,
  isBySupport: false,
  hasSupport: false,
  price: undefined,
  goOn: undefined,
  pdf: 'attached',
});

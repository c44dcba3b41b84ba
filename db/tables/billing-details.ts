// The only writer of `billing_details`: what the documents of an account say about the buyer. The details are deleted with the
// account.
import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { BillingDetails as Columns, DB } from '../schema.ts';
import { isVatIdToCheck } from './invoice-lists.ts';

export type BillingAddress = {
  line1: string;
  line2?: string | undefined;
  /** Postcode and city are empty if addresses of the country have none. */
  postcode: string;
  city: string;
  /** An ISO 3166-1 alpha-2 code. */
  country: string;
};

export type DetailValues = {
  company: string | null;
  address: BillingAddress | null;
  /** The country of the postal address. If there is no address, the last known country. This country decides the tax. */
  country: string | null;
  vatId: string | null;
  invoiceEmail: string | null;
};

/** The names of the details. The country is part of the address, so it has no name of its own here. */
export type DetailName = Exclude<keyof DetailValues, 'country'>;

/** A postal address that waits for an administrator because it would change the tax, and the VAT id that was given with it. */
export type WaitingPlace = Pick<DetailValues, 'address' | 'vatId'> & { country: string };

export type BillingDetails = DetailValues & {
  /** A new postal address that waits for the decision of an administrator. */
  waiting: (WaitingPlace & { since: Date }) | null;
  /** An administrator or the EU's register has confirmed this VAT id. */
  hasCheckedVatId: boolean;
  /** An administrator or the EU's register has rejected this VAT id, so it makes no difference to the tax. */
  hasRefusedVatId: boolean;
  /** Nobody has decided about this VAT id, and the 14 days for that are not over (contract 7.480 and 7.481). */
  isVatIdOpen: boolean;
  /** The email address for invoices, if somebody has used the link in a mail to it. */
  provedInvoiceEmail: string | null;
  /** A signup named the address, and nobody in the account has confirmed it (contract 7.400). */
  isInvoiceEmailUndecided: boolean;
  /**
   * When a person last gave, kept or removed the address for invoices. Null if nobody did, or if a signup has named the address
   * since.
   */
  invoiceEmailEditedAt: Date | null;
  /** The details that were edited here. Signups do not change them. */
  editedHere: DetailName[];
  /** JSON pointers to the parts of a signup that were left out. */
  ignored: string[];
};

export const noDetails: BillingDetails = {
  company: null,
  address: null,
  country: null,
  vatId: null,
  hasCheckedVatId: false,
  hasRefusedVatId: false,
  isVatIdOpen: false,
  invoiceEmail: null,
  provedInvoiceEmail: null,
  isInvoiceEmailUndecided: false,
  invoiceEmailEditedAt: null,
  editedHere: [],
  ignored: [],
  waiting: null,
};

const columns = [
  ...(['company', 'line1', 'line2', 'postcode', 'city', 'country'] as const),
  ...(['vat_id', 'checked_vat_id', 'refused_vat_id'] as const),
  ...(['invoice_email', 'invoice_email_proved_at', 'invoice_email_edited_at'] as const),
  ...(['edited_here', 'ignored', 'tax_country', 'waiting', 'waits_since'] as const),
] as const;

const vatIdHasWaited = sql<boolean | null>`vat_id_waits_since <= billing_now() - interval '14 days'`;

const select = (db: Database, accountId: string) =>
  db
    .selectFrom('billing_details')
    .select([...columns, vatIdHasWaited.as('vat_id_has_waited')])
    .where('account_id', '=', accountId);

export async function findBillingDetails(
  db: Database,
  accountId: string,
): Promise<BillingDetails | undefined> {
  const row = await select(db, accountId).executeTakeFirst();
  return row && readRow(row);
}

/** Locks the details. If the account has none, adds empty details. The account must exist. */
export async function lockBillingDetails(trx: Transaction<DB>, accountId: string): Promise<BillingDetails> {
  await trx
    .insertInto('billing_details')
    .values({ account_id: accountId })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute();
  return readRow(await select(trx, accountId).forUpdate().executeTakeFirstOrThrow());
}

type Edited = DetailValues & Pick<BillingDetails, 'editedHere' | 'ignored' | 'waiting'>;

// VAT ids are the same if they differ only in spaces, marks, and small or capital letters (contract 7.241).
const bare = (vatId: RawBuilder<unknown>) => sql`upper(regexp_replace(${vatId}, '[^[:alnum:]+*]', '', 'g'))`;

/** Whether VIES has confirmed the VAT id, under the name that the account had at that time. */
const hasViesConfirmed = sql<boolean>`exists (
  select from vat_checks v where v.account_id = billing_details.account_id and v.is_valid
    and ${bare(sql`v.vat_id`)} = ${bare(sql`billing_details.vat_id`)})`;

/**
 * Call this after the name of the account has changed. If no company is set, documents have the account's name, so VIES is
 * asked again (contract 7.241).
 */
export async function endViesDecision(trx: Transaction<DB>, accountId: string): Promise<void> {
  const ofAccount = sql`account_id = ${accountId}`;
  // Another transaction may be about to store an answer of VIES for the earlier name. This waits until that transaction ends.
  await sql`select from billing_details where ${ofAccount} for update`.execute(trx);
  await sql`update billing_details set checked_vat_id = null, vat_id_ask_at = null
    where ${ofAccount} and company is null and ${hasViesConfirmed}`.execute(trx);
}

/**
 * Pass `now` if a person edits the details. From then on, a new VAT id is unchecked, and a new address for invoices is unproved.
 * If the name changes, a VAT id that VIES confirmed is unchecked too.
 */
export async function updateBillingDetails(
  trx: Transaction<DB>,
  accountId: string,
  { address, vatId, country, invoiceEmail, waiting, now = null, ...details }: Edited & { now?: Date | null },
): Promise<void> {
  const isSameVatId = sql`${bare(sql`vat_id`)} = ${bare(sql`${vatId}::text`)}`;
  const name = sql`(select name from accounts where id = ${accountId})`;
  const isSameName = sql`coalesce(company, ${name}) = coalesce(${details.company}::text, ${name})`;
  const staysChecked = sql`${isSameVatId} and (${isSameName} or not ${hasViesConfirmed})`;
  await trx
    .updateTable('billing_details')
    .set({
      company: details.company,
      line1: address?.line1 ?? null,
      line2: address?.line2 ?? null,
      postcode: address?.postcode ?? null,
      city: address?.city ?? null,
      country: address?.country ?? null,
      tax_country: country,
      vat_id: vatId,
      checked_vat_id: sql`case when ${staysChecked} and checked_vat_id = vat_id then ${vatId} end`,
      refused_vat_id: sql`case when ${isSameVatId} and refused_vat_id = vat_id then ${vatId} end`,
      vat_id_ask_at: sql`case when ${staysChecked} then vat_id_ask_at end`,
      invoice_email: invoiceEmail,
      invoice_email_proved_at: sql`case when invoice_email = ${invoiceEmail} then invoice_email_proved_at end`,
      invoice_email_edited_at: sql`case when invoice_email is not distinct from ${invoiceEmail}
        then invoice_email_edited_at else ${now}::timestamptz end`,
      edited_here: details.editedHere,
      ignored: details.ignored,
      waiting: waiting && JSON.stringify(keepPlace(waiting)),
      waits_since: waiting?.since ?? null,
    })
    .where('account_id', '=', accountId)
    .execute();
}

const keepPlace = ({ address, country, vatId }: WaitingPlace): WaitingPlace => ({ address, country, vatId });

/** The caller has locked the details and seen that the account has this VAT id. */
export async function decideVatId(
  trx: Transaction<DB>,
  { accountId, vatId, isChecked }: { accountId: string; vatId: string; isChecked: boolean },
): Promise<void> {
  await trx
    .updateTable('billing_details')
    .set({
      checked_vat_id: isChecked ? vatId : null,
      refused_vat_id: isChecked ? null : vatId,
      vat_id_waits_since: null,
    })
    .where('account_id', '=', accountId)
    .execute();
}

export type VatIdToAsk = { accountId: string; vatId: string; name: string; userId: string | null };

/** Claims a VAT id that nobody has decided about yet. No other instance can claim the same VAT id before `leaseEndsAt`. */
export async function claimVatIdToAsk(
  db: Database,
  { countries, now, leaseEndsAt }: { countries: string[]; now: Date; leaseEndsAt: Date },
): Promise<VatIdToAsk | undefined> {
  const { rows } = await sql<VatIdToAsk>`
    with due as (
      select account_id from billing_details d
      where ${isVatIdToCheck(countries)} and (vat_id_ask_at is null or vat_id_ask_at <= ${now})
      order by vat_id_ask_at nulls first limit 1 for update skip locked)
    update billing_details b set vat_id_ask_at = ${leaseEndsAt} from due, accounts a
    where b.account_id = due.account_id and a.id = b.account_id
    returning b.account_id as "accountId", b.vat_id as "vatId", coalesce(b.company, a.name) as name,
      (select u.id from users u where u.account_id = a.id order by u.id limit 1) as "userId"`.execute(db);
  return rows[0];
}

/** Sets when VIES is asked about this VAT id for the next time: `at` that time, or never. */
export async function askAboutVatIdAgain(
  db: Database,
  { accountId, vatId }: Pick<VatIdToAsk, 'accountId' | 'vatId'>,
  at: Date | 'never',
): Promise<void> {
  await db
    .updateTable('billing_details')
    .set({ vat_id_ask_at: at === 'never' ? sql`'infinity'` : at })
    .where('account_id', '=', accountId)
    .where('vat_id', '=', vatId)
    .execute();
}

/**
 * An unchecked VAT id blocks invoices for at most 14 days (contract 7.481). This starts the 14 days unless they run already. Only
 * a decision ends them. A new VAT id does not start them again, so nobody can put off invoices by typing new VAT ids.
 */
export async function startVatIdWait(trx: Transaction<DB>, accountId: string): Promise<void> {
  await trx
    .updateTable('billing_details')
    .set({ vat_id_waits_since: sql`billing_now()` })
    .where('account_id', '=', accountId)
    .where('vat_id_waits_since', 'is', null)
    .execute();
}

/** Returns false if `email` is not the account's address for invoices, or if it is proved already. */
export async function proveInvoiceEmail(
  trx: Transaction<DB>,
  { accountId, email, at }: { accountId: string; email: string; at: Date },
): Promise<boolean> {
  const result = await trx
    .updateTable('billing_details')
    .set({ invoice_email_proved_at: at })
    .where('account_id', '=', accountId)
    .where('invoice_email', '=', email)
    .where('invoice_email_proved_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Records that somebody in the account has confirmed the address for invoices, as if they had entered it at `at`. */
export async function keepInvoiceEmail(trx: Transaction<DB>, accountId: string, at: Date): Promise<void> {
  await trx
    .updateTable('billing_details')
    .set({ invoice_email_edited_at: at, edited_here: sql`array_append(edited_here, 'invoiceEmail')` })
    .where('account_id', '=', accountId)
    .execute();
}

export async function eraseInvoiceEmails(trx: Transaction<DB>, emails: string[]): Promise<void> {
  await trx
    .updateTable('billing_details')
    .set({ invoice_email: null, invoice_email_proved_at: null })
    .where(sql<boolean>`invoice_email = any(${emails})`)
    .execute();
}

type Row = Pick<Selectable<Columns>, (typeof columns)[number]> & { vat_id_has_waited: boolean | null };

function readRow(row: Row): BillingDetails {
  const { line1, line2, postcode, city, country, vat_id: vatId } = row;
  const hasCheckedVatId = vatId !== null && vatId === row.checked_vat_id;
  const hasRefusedVatId = vatId !== null && !hasCheckedVatId && vatId === row.refused_vat_id;
  const isWhole = line1 !== null && postcode !== null && city !== null && country !== null;
  return {
    company: row.company,
    address: isWhole ? { line1, ...(line2 !== null && { line2 }), postcode, city, country } : null,
    country: country ?? row.tax_country,
    vatId,
    hasCheckedVatId,
    hasRefusedVatId,
    isVatIdOpen: vatId !== null && !hasCheckedVatId && !hasRefusedVatId && row.vat_id_has_waited !== true,
    invoiceEmail: row.invoice_email,
    provedInvoiceEmail: row.invoice_email_proved_at && row.invoice_email,
    isInvoiceEmailUndecided: row.invoice_email !== null && !row.edited_here.includes('invoiceEmail'),
    invoiceEmailEditedAt: row.invoice_email_edited_at,
    editedHere: row.edited_here as DetailName[],
    ignored: row.ignored,
    waiting:
      row.waiting && row.waits_since
        ? { ...(row.waiting as unknown as WaitingPlace), since: row.waits_since }
        : null,
  };
}

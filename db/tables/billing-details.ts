// The only writer of `billing_details`: to whom documents of an account are made out. The details are deleted with the account.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { BillingDetails as Columns, DB } from '../schema.ts';

export type BillingAddress = {
  line1: string;
  line2?: string | undefined;
  /** Postcode and city are empty if addresses of the country have none. */
  postcode: string;
  city: string;
  country: string;
};

export type DetailValues = {
  company: string | null;
  address: BillingAddress | null;
  /** The country of the address, otherwise the last known one. It decides the tax. */
  country: string | null;
  vatId: string | null;
  invoiceEmail: string | null;
};

/** The names of the details. The country is part of the address, so it has no name of its own here. */
export type DetailName = Exclude<keyof DetailValues, 'country'>;

/** An address that would change the tax, and the VAT id that was given with it. */
export type WaitingPlace = Pick<DetailValues, 'address' | 'vatId'> & { country: string };

export type BillingDetails = DetailValues & {
  /** A new address that waits for the decision of an administrator. */
  waiting: (WaitingPlace & { since: Date }) | null;
  /** An administrator has marked this VAT id as checked. */
  hasCheckedVatId: boolean;
  /** The address for invoices, if the link in a mail to it was used. */
  provedInvoiceEmail: string | null;
  /** A signup named the address, and nobody of the account has confirmed it (contract 7.400). */
  isInvoiceEmailUndecided: boolean;
  /** When a person last gave, kept or removed the address for invoices. Null if nobody did since a signup named it. */
  invoiceEmailEditedAt: Date | null;
  /** The details that were edited here, which signups do not change. */
  editedHere: DetailName[];
  /** The parts of a signup that were left out, as JSON pointers. */
  ignored: string[];
};

export const noDetails: BillingDetails = {
  company: null,
  address: null,
  country: null,
  vatId: null,
  hasCheckedVatId: false,
  invoiceEmail: null,
  provedInvoiceEmail: null,
  isInvoiceEmailUndecided: false,
  invoiceEmailEditedAt: null,
  editedHere: [],
  ignored: [],
  waiting: null,
};

const columns = [
  ...(['company', 'line1', 'line2', 'postcode', 'city', 'country', 'vat_id', 'checked_vat_id'] as const),
  ...(['invoice_email', 'invoice_email_proved_at', 'invoice_email_edited_at'] as const),
  ...(['edited_here', 'ignored', 'tax_country', 'waiting', 'waits_since'] as const),
] as const;

export async function findBillingDetails(
  db: Database,
  accountId: string,
): Promise<BillingDetails | undefined> {
  const row = await db
    .selectFrom('billing_details')
    .select(columns)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && readRow(row);
}

/** Adds empty details if the account has none. The account must exist. */
export async function lockBillingDetails(trx: Transaction<DB>, accountId: string): Promise<BillingDetails> {
  await trx
    .insertInto('billing_details')
    .values({ account_id: accountId })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute();
  const row = await trx
    .selectFrom('billing_details')
    .select(columns)
    .where('account_id', '=', accountId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return readRow(row);
}

type Edited = DetailValues & Pick<BillingDetails, 'editedHere' | 'ignored' | 'waiting'>;

/** Pass `now` if a person edits the details. A new VAT id counts as unchecked, and a new address for invoices as unproved. */
export async function updateBillingDetails(
  trx: Transaction<DB>,
  accountId: string,
  { address, vatId, country, invoiceEmail, waiting, now = null, ...details }: Edited & { now?: Date | null },
): Promise<void> {
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
      checked_vat_id: sql`case when vat_id = ${vatId} then checked_vat_id end`,
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

/** False if the account has another VAT id. */
export async function setVatIdChecked(
  trx: Transaction<DB>,
  { accountId, vatId, isChecked }: { accountId: string; vatId: string; isChecked: boolean },
): Promise<boolean> {
  const result = await trx
    .updateTable('billing_details')
    .set({ checked_vat_id: isChecked ? vatId : null })
    .where('account_id', '=', accountId)
    .where('vat_id', '=', vatId)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** False if the account has another address for invoices, or its address is proved already. */
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

/** The address counts as if a person had given it at that time. */
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

function readRow(row: Pick<Selectable<Columns>, (typeof columns)[number]>): BillingDetails {
  const { line1, line2, postcode, city, country } = row;
  const isWhole = line1 !== null && postcode !== null && city !== null && country !== null;
  return {
    company: row.company,
    address: isWhole ? { line1, ...(line2 !== null && { line2 }), postcode, city, country } : null,
    country: country ?? row.tax_country,
    vatId: row.vat_id,
    hasCheckedVatId: row.vat_id !== null && row.vat_id === row.checked_vat_id,
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

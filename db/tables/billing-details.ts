// The only writer of `billing_details`: to whom documents of an account are made out. They go with the account.
import type { Database } from '../postgres/client.ts';

export type BillingAddress = {
  line1: string;
  line2?: string | undefined;
  postcode: string;
  city: string;
  country: string;
};

export type BillingDetails = {
  company: string | null;
  /** Whole, or not there. */
  address: BillingAddress | null;
  vatId: string | null;
  /** Whether an administrator has marked this very id as checked. */
  hasCheckedVatId: boolean;
  invoiceEmail: string | null;
  /** The address for invoices, if somebody has used the link in a mail to it. */
  provedInvoiceEmail: string | null;
};

export async function findBillingDetails(
  db: Database,
  accountId: string,
): Promise<BillingDetails | undefined> {
  const row = await db
    .selectFrom('billing_details')
    .selectAll()
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { line1, line2, postcode, city, country } = row;
  const isWhole = line1 !== null && postcode !== null && city !== null && country !== null;
  return {
    company: row.company,
    address: isWhole ? { line1, ...(line2 !== null && { line2 }), postcode, city, country } : null,
    vatId: row.vat_id,
    hasCheckedVatId: row.vat_id !== null && row.vat_id === row.checked_vat_id,
    invoiceEmail: row.invoice_email,
    provedInvoiceEmail: row.invoice_email_proved_at && row.invoice_email,
  };
}

// The only writer of `vat_checks`: the answers of VIES, the EU's register of VAT ids. An answer never changes, because it is
// evidence for the invoices without tax.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export type VatAnswer = {
  isValid: boolean;
  /** The number that VIES gave to the answer. Null if VIES gave none. */
  consultation: string | null;
  /** The name that the country has registered. Null if the country does not disclose it. */
  name: string | null;
  address: string | null;
};

/** `askedBy` is the seller's VAT id. */
export async function insertVatCheck(
  trx: Transaction<DB>,
  check: VatAnswer & { accountId: string; vatId: string; askedBy: string; askedAt: Date },
): Promise<void> {
  await trx
    .insertInto('vat_checks')
    .values({
      id: uuidv7(),
      account_id: check.accountId,
      vat_id: check.vatId,
      asked_by: check.askedBy,
      asked_at: check.askedAt,
      is_valid: check.isValid,
      consultation: check.consultation,
      name: check.name,
      address: check.address,
    })
    .execute();
}

/** Returns the newest answer about the VAT id of an account. */
export const findVatCheck = (
  db: Database,
  { accountId, vatId }: { accountId: string; vatId: string },
): Promise<(VatAnswer & { askedAt: Date }) | undefined> =>
  db
    .selectFrom('vat_checks')
    .select(['is_valid as isValid', 'consultation', 'name', 'address', 'asked_at as askedAt'])
    .where('account_id', '=', accountId)
    .where('vat_id', '=', vatId)
    .orderBy('asked_at', 'desc')
    .limit(1)
    .executeTakeFirst();

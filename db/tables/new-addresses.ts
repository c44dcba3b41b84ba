// The only writer of `new_addresses`, apart from the trigger that deletes rows. Each row is an address that support has offered
// to a user who lost their mailbox. The row lasts while the links in the mails about it work.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export type NewAddress = {
  id: string;
  email: string;
  askedAt: Date;
  expiresAt: Date;
  /** Whether the use of the link also removes the second factors. */
  removesFactors: boolean;
};

/** Replaces the new address that was offered before. */
export async function setNewAddress(
  trx: Transaction<DB>,
  { userId, ...offer }: NewAddress & { userId: string },
): Promise<void> {
  const { id, email, askedAt, expiresAt, removesFactors } = offer;
  const values = {
    ...{ id, email, asked_at: askedAt, expires_at: expiresAt, guesses: 0 },
    removes_factors_by: removesFactors ? id : null,
  };
  await trx
    .insertInto('new_addresses')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
    .execute();
}

export async function findNewAddress(
  db: Database,
  userId: string,
  now: Date,
): Promise<NewAddress | undefined> {
  return db
    .selectFrom('new_addresses')
    .select(['id', 'email', 'asked_at as askedAt', 'expires_at as expiresAt'])
    .select(sql<boolean>`removes_factors_by is not distinct from id`.as('removesFactors'))
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** After this, the links about the new address no longer work. */
export async function deleteNewAddress(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('new_addresses').where('user_id', '=', userId).execute();
}

/** Deletes offers of these addresses to any user. */
export async function deleteNewAddressesTo(db: Database, emails: string[]): Promise<void> {
  await db.deleteFrom('new_addresses').where(sql<boolean>`email = any(${emails})`).execute();
}

export async function deleteAllNewAddresses(db: Database): Promise<void> {
  await db.deleteFrom('new_addresses').execute();
}

/** Counts a guess at a code. Returns the number of guesses so far, or undefined after `max` guesses. */
export async function countNewAddressGuess(
  db: Database,
  { id, max }: { id: string; max: number },
): Promise<number | undefined> {
  const row = await db
    .updateTable('new_addresses')
    .set((offer) => ({ guesses: offer('guesses', '+', 1) }))
    .where('id', '=', id)
    .where('guesses', '<', max)
    .returning('guesses')
    .executeTakeFirst();
  return row?.guesses;
}

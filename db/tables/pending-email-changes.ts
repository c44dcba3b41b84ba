// The only writer of `pending_email_changes`: the address that each user has asked to change to, for as long as the link in the
// mail works. The row is the same whether or not somebody has that address, so it tells a user nothing about others.

import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';

export type PendingEmailChange = { email: string; expiresAt: Date };

type NewChange = PendingEmailChange & { userId: string; now: Date };

const set = prepareDeferred((db, { userId, email, now, expiresAt }: NewChange) => {
  const change = { email, requested_at: now, expires_at: expiresAt };
  return db
    .insertInto('pending_email_changes')
    .values({ user_id: userId, ...change })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(change));
});

/** Adds a pending change, in place of an earlier one. */
export function deferPendingEmailChange(trx: Transaction<DB>, change: NewChange): void {
  set(trx, change);
}

export async function findPendingEmailChange(
  db: Database,
  userId: string,
  now: Date,
): Promise<PendingEmailChange | undefined> {
  return db
    .selectFrom('pending_email_changes')
    .select(['email', 'expires_at as expiresAt'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Deletes the user's pending change. True if there was one. */
export async function deletePendingEmailChange(db: Database, userId: string): Promise<boolean> {
  const query = db.deleteFrom('pending_email_changes').where('user_id', '=', userId);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

/** Deletes the pending changes to these addresses. */
export async function deletePendingEmailChangesTo(db: Database, emails: string[]): Promise<void> {
  await db.deleteFrom('pending_email_changes').where(sql<boolean>`email = any(${emails})`).execute();
}

export async function deleteAllPendingEmailChanges(db: Database): Promise<void> {
  await db.deleteFrom('pending_email_changes').execute();
}

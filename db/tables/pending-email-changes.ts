// The only writer of `pending_email_changes`: the address that each user has asked to change to, while the link in the mail
// works. A row is the same whether or not somebody has the address, so it tells nothing about other people.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';

export type PendingEmailChange = { email: string; expiresAt: Date };

type NewChange = PendingEmailChange & { userId: string; now: Date };

/** Replaces an earlier pending change. */
export const deferPendingEmailChange = prepareDeferred((db, { userId, email, now, expiresAt }: NewChange) => {
  const values = { email, requested_at: now, expires_at: expiresAt };
  return db
    .insertInto('pending_email_changes')
    .values({ user_id: userId, ...values })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values));
});

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

/** Returns false if there was no pending change. */
export async function deletePendingEmailChange(db: Database, userId: string): Promise<boolean> {
  const query = db.deleteFrom('pending_email_changes').where('user_id', '=', userId);
  return (await query.executeTakeFirst()).numDeletedRows > 0n;
}

export async function deletePendingEmailChangesTo(db: Database, emails: string[]): Promise<void> {
  await db.deleteFrom('pending_email_changes').where(sql<boolean>`email = any(${emails})`).execute();
}

export async function deleteAllPendingEmailChanges(db: Database): Promise<void> {
  await db.deleteFrom('pending_email_changes').execute();
}

// The only writer of `pending_logins`: logins with the correct password that wait for the code in the same browser. The token
// is in a cookie of that browser, and only its hash is stored. A trigger deletes a user's pending logins if their password,
// email address or second factor changes, or if they are suspended.
import type { Database } from '../postgres/client.ts';

export type PendingLogin = { tokenHash: Uint8Array; userId: string; expiresAt: Date };

export async function insertPendingLogin(
  db: Database,
  { tokenHash, userId, expiresAt }: PendingLogin,
): Promise<void> {
  await db
    .insertInto('pending_logins')
    .values({ token_hash: tokenHash, user_id: userId, expires_at: expiresAt })
    .execute();
}

/** Returns the id of the user. The pending login is not used up. */
export async function findPendingLogin(
  db: Database,
  { tokenHash, now }: { tokenHash: Uint8Array; now: Date },
): Promise<string | undefined> {
  const row = await db
    .selectFrom('pending_logins')
    .select('user_id as userId')
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row?.userId;
}

export async function deletePendingLogin(db: Database, tokenHash: Uint8Array): Promise<void> {
  await db.deleteFrom('pending_logins').where('token_hash', '=', tokenHash).execute();
}

export async function deleteAllPendingLogins(db: Database): Promise<number> {
  return Number((await db.deleteFrom('pending_logins').executeTakeFirst()).numDeletedRows);
}

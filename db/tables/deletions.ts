// Users who leave, in `users`: when they are erased, and who is to be erased by now.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import { selectUsers, toUser, type User } from './users.ts';

export async function setDeletionDue(trx: Transaction<DB>, id: string, at: Date | null): Promise<void> {
  await trx.updateTable('users').set({ deletion_due_at: at }).where('id', '=', id).execute();
}

/** Nobody is erased before `at`. The result is everybody whose deletion is planned. */
export async function postponeDeletions(trx: Transaction<DB>, at: Date): Promise<User[]> {
  await trx
    .updateTable('users')
    .set({ deletion_due_at: sql`greatest(deletion_due_at, ${at})` })
    .where('deletion_due_at', 'is not', null)
    .execute();
  const rows = await selectUsers(trx).where('u.deletion_due_at', 'is not', null).execute();
  return rows.map(toUser);
}

// By the clock of the database: an instance whose own is fast must not erase anybody too early. A suspension holds it up,
// or whoever is suspended could come back under the same address; so does an address that can still be had back.
const isDue = sql<boolean>`u.deletion_due_at <= now() and u.suspended_at is null
  and not exists (select from reserved_addresses r where r.user_id = u.id and r.expires_at > now())`;

/** The ids of those whose deletion is due. */
export async function findUsersToErase(
  db: Database,
  { limit, except }: { limit: number; except: string[] },
): Promise<string[]> {
  const rows = await db
    .selectFrom('users as u')
    .select('u.id')
    .where(isDue)
    .where(sql<boolean>`u.id <> all(${except}::uuid[])`)
    .orderBy('u.deletion_due_at')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Locks account and user as nothing else does: not even a row that refers to them, such as a contract, can come between.
 * With `onlyDue`, undefined where the deletion is not due (any more).
 */
export async function lockUserToErase(
  trx: Transaction<DB>,
  id: string,
  { onlyDue }: { onlyDue: boolean },
): Promise<User | undefined> {
  let query = selectUsers(trx).where('u.id', '=', id).forUpdate(['a', 'u']);
  if (onlyDue) query = query.where(isDue);
  const row = await query.executeTakeFirst();
  return row && toUser(row);
}

/** Whether somebody else than this user belongs to the account. */
export async function isAccountShared(db: Database, { id, account }: User): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('account_id', '=', account.id)
    .where('id', '<>', id)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether there will be an administrator without this one. Others wait to ask until the transaction ends. */
export async function hasOtherAdmin(trx: Transaction<DB>, id: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('last admin', 0))`.execute(trx);
  const row = await trx
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'admin')
    .where('id', '<>', id)
    .where('suspended_at', 'is', null)
    .where('deletion_due_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

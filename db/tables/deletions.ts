// Reads and writes the planned deletions of users, which are in `users`.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import { nobodysHash, selectUsers, toUser, type User } from './users.ts';

export async function setDeletionDue(trx: Transaction<DB>, id: string, at: Date | null): Promise<void> {
  await trx.updateTable('users').set({ deletion_due_at: at }).where('id', '=', id).execute();
}

/** Postpones all planned deletions to `at` or later. Returns all users with a planned deletion. */
export async function postponeDeletions(trx: Transaction<DB>, at: Date): Promise<User[]> {
  await trx
    .updateTable('users')
    .set({ deletion_due_at: sql`greatest(deletion_due_at, ${at})` })
    .where('deletion_due_at', 'is not', null)
    .execute();
  const rows = await selectUsers(trx).where('u.deletion_due_at', 'is not', null).execute();
  return rows.map(toUser);
}

// The database's clock decides, because an instance with a fast clock must not erase anybody too early. A suspension delays the
// deletion: an erased user could sign up again with the same email address. While the user can still have an address back, the
// deletion waits, too.
const isDue = sql<boolean>`u.deletion_due_at <= now() and u.suspended_at is null
  and not exists (select from reserved_addresses r where r.user_id = u.id and r.expires_at > now())`;

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
 * Takes the strictest lock, so that nobody can add a row that refers to the account or the user. With `onlyDue`, returns
 * undefined if the deletion is not due yet.
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

/**
 * Returns whether another administrator can log in (contract 12.15). Other transactions that call this wait until this
 * transaction ends, so the last two administrators cannot leave at the same time.
 */
export async function hasOtherAdmin(trx: Transaction<DB>, id: string): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('last admin', 0))`.execute(trx);
  return (await selectAdmins(trx).where('u.id', '<>', id).limit(1).execute()).length > 0;
}

export async function listAdmins(db: Database): Promise<User[]> {
  return (await selectAdmins(db).execute()).map(toUser);
}

/** Administrators who can log in. */
const selectAdmins = (db: Database) =>
  selectUsers(db)
    .where('u.role', '=', 'admin')
    .where('u.email_verified_at', 'is not', null)
    .where('u.suspended_at', 'is', null)
    .where('u.deletion_due_at', 'is', null)
    .where(sql<boolean>`(u.has_passkey or u.password_hash <> ${nobodysHash})`);

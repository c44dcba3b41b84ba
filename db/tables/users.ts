// Reads and writes `users`; deletions.ts writes it too. A trigger sets `profile_updated_at` (keep_profile_updated_at in
// db/schema.sql).
import { sql, type Transaction } from 'kysely';
import { runByKeyRanges } from '../key-ranges.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import { type Account, deleteUnusedAccount } from './accounts.ts';

export type InternalRole = 'user' | 'manager' | 'admin';

/** Second factors that are a code, entered after the password. */
export type CodeFactor = 'authenticator';

export type User = {
  id: string;
  email: string;
  /** Whether the address identifies this user. If not, somebody only typed it. */
  holdsEmail: boolean;
  /** Null until the address is proved. */
  emailVerifiedAt: Date | null;
  name: string;
  /** When the owner last changed the name here. After that, no hand-off overwrites the name. */
  nameEditedAt: Date | null;
  role: InternalRole;
  /** Whether the user has a password that works. */
  hasPassword: boolean;
  /** Whether the user ever had a password, even if it no longer works. */
  hadPassword: boolean;
  hasPasskey: boolean;
  codeFactors: CodeFactor[];
  suspendedAt: Date | null;
  /** When the account was frozen, if that is why the user is suspended. */
  frozenAt: Date | null;
  deletionDueAt: Date | null;
  /** Null until the owner has chosen one. */
  timeZone: string | null;
  profileUpdatedAt: Date;
  /** `capabilities` have been granted, but may not be in force. */
  account: Account;
};

/**
 * No password matches this hash. This hash replaces a password that no longer works. A check against this hash takes as long as
 * a check against a real hash, so the time does not show whether a user exists or has a password.
 */
export const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$XkgpURrtAfii57F9NJAw/A$aWDh0MdT925qDBS3SZ7COShNEWh7UWgVhKz7k3t9wPI';

/** The columns of a user, for statements with `users as u` and `accounts as a`. Pass the row to `toUser`. */
export const userColumns = [
  'u.id as userId',
  'u.email',
  'u.holds_email as holdsEmail',
  'u.email_verified_at as emailVerifiedAt',
  'u.name',
  'u.name_edited_at as nameEditedAt',
  'u.role',
  sql<boolean>`coalesce(u.password_hash <> ${sql.lit(nobodysHash)}, false)`.as('hasPassword'),
  sql<boolean>`u.password_hash is not null`.as('hadPassword'),
  'u.has_passkey as hasPasskey',
  'u.has_authenticator as hasAuthenticator',
  'u.suspended_at as suspendedAt',
  'u.frozen_at as frozenAt',
  'u.deletion_due_at as deletionDueAt',
  'u.time_zone as timeZone',
  'u.profile_updated_at as profileUpdatedAt',
  'a.id as accountId',
  'a.name as accountName',
  'a.capabilities',
  'a.verified_at as accountVerifiedAt',
] as const;

type UserRow = Omit<User, 'id' | 'codeFactors' | 'account'> & {
  userId: string;
  hasAuthenticator: boolean;
  accountId: string;
  accountName: string;
  capabilities: string[];
  accountVerifiedAt: Date | null;
};

export function toUser({
  userId,
  hasAuthenticator,
  accountId,
  accountName,
  capabilities,
  accountVerifiedAt,
  ...user
}: UserRow): User {
  const codeFactors: CodeFactor[] = hasAuthenticator ? ['authenticator'] : [];
  const account = { id: accountId, name: accountName, capabilities, verifiedAt: accountVerifiedAt };
  return { id: userId, ...user, codeFactors, account };
}

export const selectUsers = (db: Database) =>
  db.selectFrom('users as u').innerJoin('accounts as a', 'a.id', 'u.account_id').select(userColumns);

/**
 * Whether user `u` holds the address. The index covers only users who hold their address. Postgres uses that index only if this
 * condition is in the text of the statement, and not in a parameter.
 */
export const isHeld = sql<boolean>`u.holds_email`;

const selectHolder = prepare((db, { email }: { email: string }) =>
  selectUsers(db).where('u.email', '=', email).where(isHeld),
);

export async function findHolder(db: Database, email: string): Promise<User | undefined> {
  const [row] = await selectHolder(db, { email });
  return row && toUser(row);
}

export async function findUserById(db: Database, id: string): Promise<User | undefined> {
  const row = await selectUsers(db).where('u.id', '=', id).executeTakeFirst();
  return row && toUser(row);
}

const selectToLock = (db: Database) => selectUsers(db).forNoKeyUpdate(['a', 'u']);
const lockById = prepare((db, { id }: { id: string }) => selectToLock(db).where('u.id', '=', id));
const lockByEmail = prepare((db, { email }: { email: string }) =>
  selectToLock(db).where('u.email', '=', email).where(isHeld),
);
const lockByPassword = prepare((db, { id, passwordHash }: { id: string; passwordHash: string }) =>
  selectToLock(db).where('u.id', '=', id).where('u.password_hash', '=', passwordHash),
);

/**
 * Locks account and user. With `email`, finds the user who holds the address. With `passwordHash`, returns undefined if the user
 * has another hash.
 * All code locks the account first, because two orders could deadlock. The lock (`for no key update`) lets other transactions add
 * rows that refer to the account or the user, such as a session. A stricter lock would make such a transaction wait. It could
 * then deadlock, because it takes its own locks in the other order.
 */
export async function lockUser(
  trx: Transaction<DB>,
  key: { id: string } | { email: string } | { id: string; passwordHash: string },
): Promise<User | undefined> {
  const [row] = await ('email' in key
    ? lockByEmail(trx, key)
    : 'passwordHash' in key
      ? lockByPassword(trx, key)
      : lockById(trx, key));
  return row && toUser(row);
}

/** Locks in the order of account id and user id, so that two callers never deadlock. */
export async function lockUsers(trx: Transaction<DB>, ids: string[]): Promise<User[]> {
  const lock = () => selectToLock(trx).where('u.id', 'in', ids).orderBy('a.id').orderBy('u.id').execute();
  const rows = await lock();
  // Postgres leaves out people who moved to another account while this waited for the lock. A second try finds them.
  return (rows.length < ids.length ? await lock() : rows).map(toUser);
}

/** Returns at most 100 users, with staff first so that no staff member is left out. */
export async function listUsersOfAccount(db: Database, accountId: string): Promise<User[]> {
  const rows = await selectUsers(db)
    .where('u.account_id', '=', accountId)
    .orderBy(sql`u.role = 'user'`)
    .orderBy('u.id')
    .limit(100)
    .execute();
  return rows.map(toUser);
}

type NewUser = Pick<
  User,
  'id' | 'email' | 'holdsEmail' | 'emailVerifiedAt' | 'name' | 'role' | 'suspendedAt'
> & {
  accountId: string;
  passwordHash: string | null;
};

export const deferUser = prepareDeferred((db, user: NewUser) =>
  db.insertInto('users').values({
    id: user.id,
    account_id: user.accountId,
    email: user.email,
    holds_email: user.holdsEmail,
    name: user.name,
    role: user.role,
    password_hash: user.passwordHash,
    email_verified_at: user.emailVerifiedAt,
    suspended_at: user.suspendedAt,
  }),
);

/** Stores an edit by the owner. No hand-off overwrites it. */
export async function editUser(
  trx: Transaction<DB>,
  id: string,
  { name, timeZone }: { name?: string; timeZone?: string | null },
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ name, name_edited_at: name === undefined ? undefined : sql`now()`, time_zone: timeZone })
    .where('id', '=', id)
    .execute();
}

export async function updateUser(
  trx: Transaction<DB>,
  id: string,
  change: {
    name?: string;
    email?: string;
    holdsEmail?: true;
    emailVerifiedAt?: Date | null;
    passwordHash?: string;
  },
): Promise<void> {
  if (Object.keys(change).length === 0) return;
  await trx
    .updateTable('users')
    .set({
      name: change.name,
      email: change.email,
      holds_email: change.holdsEmail,
      email_verified_at: change.emailVerifiedAt,
      password_hash: change.passwordHash,
    })
    .where('id', '=', id)
    .execute();
}

/** Returns whether the user wants no more offers of a passkey. */
export async function hasDeclinedPasskeys(db: Database, id: string): Promise<boolean> {
  const query = db.selectFrom('users').select('id').where('id', '=', id);
  return (await query.where('passkeys_declined_at', 'is not', null).executeTakeFirst()) !== undefined;
}

/** If the user declines again, the time of the first refusal stays. */
export async function declinePasskeys(trx: Transaction<DB>, id: string, at: Date): Promise<void> {
  await trx
    .updateTable('users')
    .set({ passkeys_declined_at: at })
    .where('id', '=', id)
    .where('passkeys_declined_at', 'is', null)
    .execute();
}

/** Marks everybody's profile as changed now. */
export async function touchAllProfiles(trx: Transaction<DB>): Promise<void> {
  // Any new value will do, because the trigger sets the right one.
  const touched = { profile_updated_at: sql<Date>`profile_updated_at + interval '1 millisecond'` };
  await runByKeyRanges(trx, { table: 'users', key: 'id' }, (isInRange) =>
    trx.updateTable('users').set(touched).where(isInRange).execute(),
  );
}

/** Also deletes the account, unless another user or contracts belong to it. */
export async function deleteUser(trx: Transaction<DB>, { id, account }: User): Promise<void> {
  await trx.deleteFrom('users').where('id', '=', id).execute();
  await deleteUnusedAccount(trx, account.id);
}

/** A null ends the suspension. A trigger ends the sessions of a suspended user. The caller has locked the user. */
export async function setUserSuspended(trx: Transaction<DB>, id: string, at: Date | null): Promise<void> {
  await trx.updateTable('users').set({ suspended_at: at }).where('id', '=', id).execute();
}

/** The caller has locked the user. */
export async function setUserRole(trx: Transaction<DB>, id: string, role: InternalRole): Promise<void> {
  await trx.updateTable('users').set({ role }).where('id', '=', id).execute();
}

/** A null ends the freeze and any suspension. The caller has locked the user. */
export async function setUserFrozen(trx: Transaction<DB>, id: string, at: Date | null): Promise<void> {
  // If the user was suspended already, the time of that suspension stays.
  const suspendedAt = at && sql<Date>`coalesce(suspended_at, ${at}::timestamptz)`;
  await trx
    .updateTable('users')
    .set({ suspended_at: suspendedAt, frozen_at: at })
    .where('id', '=', id)
    .execute();
}

/** Keeps other transactions from writing to `users` until this transaction ends. */
export async function lockUsersTable(trx: Transaction<DB>): Promise<void> {
  await sql`lock table users in share row exclusive mode`.execute(trx);
}

/** Returns whether there is any user. With `ids`, returns whether any of these users exists. */
export async function hasUsers(db: Database, ids?: string[]): Promise<boolean> {
  let query = db.selectFrom('users').select('id').limit(1);
  if (ids) query = query.where('id', 'in', ids);
  return (await query.executeTakeFirst()) !== undefined;
}

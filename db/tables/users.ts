// Reads and writes `users`. password-owners.ts, linked-users.ts, address-owners.ts and deletions.ts do the same for their
// subjects. `profile_updated_at` is set by a trigger (keep_profile_updated_at in db/schema.sql).
import { sql, type Transaction } from 'kysely';
import { runByKeyRanges } from '../key-ranges.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import { type Account, deleteUnusedAccount } from './accounts.ts';

export type InternalRole = 'user' | 'manager' | 'admin';

/** The kinds of second factor whose code is asked for after the password. */
export type CodeFactor = 'authenticator';

/** A user with their account: the one shape in which the rest of the code knows them. */
export type User = {
  id: string;
  email: string;
  /** Whether the address is held, and so identifies this user; otherwise somebody merely typed it. */
  holdsEmail: boolean;
  /** Null until the address is proved. */
  emailVerifiedAt: Date | null;
  name: string;
  /** When the owner last changed it here: from then on no hand-off overwrites it. */
  nameEditedAt: Date | null;
  role: InternalRole;
  /** Whether the user has a password that counts. */
  hasPassword: boolean;
  /** Whether the user has a password, whether or not it still counts. */
  hadPassword: boolean;
  hasPasskey: boolean;
  /** Those that the user has. */
  codeFactors: CodeFactor[];
  suspendedAt: Date | null;
  /** Set if the user is suspended because somebody who reads one of their mailboxes froze the account. */
  frozenAt: Date | null;
  /** When this user is erased, unless they change their mind before. */
  deletionDueAt: Date | null;
  profileUpdatedAt: Date;
  /** `capabilities` are those granted, in force or not. */
  account: Account;
};

/**
 * A hash that no password matches; it stands for a password that counts no more. Checking it takes as long as checking a real
 * hash, so that the time does not show whether a user exists or has a password.
 */
export const nobodysHash =
  '$argon2id$v=19$m=19456,t=2,p=1$XkgpURrtAfii57F9NJAw/A$aWDh0MdT925qDBS3SZ7COShNEWh7UWgVhKz7k3t9wPI';

/** For statements with `users as u` and `accounts as a`; `toUser` makes a User of them. */
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
  const codeFactors: CodeFactor[] = [];
  if (hasAuthenticator) codeFactors.push('authenticator');
  const account = { id: accountId, name: accountName, capabilities, verifiedAt: accountVerifiedAt };
  return { id: userId, ...user, codeFactors, account };
}

export const selectUsers = (db: Database) =>
  db.selectFrom('users as u').innerJoin('accounts as a', 'a.id', 'u.account_id').select(userColumns);

/** Whether the user of `users as u` holds the address. As text, not as a parameter: the index covers these rows only. */
export const isHeld = sql<boolean>`u.holds_email`;

const selectHolder = prepare((db, { email }: { email: string }) =>
  selectUsers(db).where('u.email', '=', email).where(isHeld),
);

/** The one user who holds that address. */
export async function findHolder(db: Database, email: string): Promise<User | undefined> {
  const [row] = await selectHolder(db, { email });
  return row && toUser(row);
}

/** Takes no lock. */
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
 * Locks account and user until the transaction ends: by `email` the user who holds it; with `passwordHash`, undefined if the
 * user no longer has that hash.
 *
 * The account comes first, as everywhere: two orders could deadlock. The keys stay free, so that new rows that refer to these
 * (a contract, a session) need not wait; waiting would be the other order.
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

/** Locks users and their accounts: by account id, then user id, so that two who lock the same two people never deadlock. */
export async function lockUsers(trx: Transaction<DB>, ids: string[]): Promise<User[]> {
  const lock = () => selectToLock(trx).where('u.id', 'in', ids).orderBy('a.id').orderBy('u.id').execute();
  const rows = await lock();
  // Postgres leaves out somebody who has gone to another account while this waited.
  return (rows.length < ids.length ? await lock() : rows).map(toUser);
}

/** Everybody who belongs to an account, staff first: at most 100, and whether staff are among them is sure. Takes no lock. */
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

const insert = prepareDeferred((db, user: NewUser) =>
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

export function deferUser(trx: Transaction<DB>, user: NewUser): void {
  insert(trx, user);
}

/** An edit by the owner, which no hand-off overwrites. */
export async function editUser(trx: Transaction<DB>, id: string, { name }: { name?: string }): Promise<void> {
  await trx
    .updateTable('users')
    .set({ name, name_edited_at: name === undefined ? undefined : sql`now()` })
    .where('id', '=', id)
    .execute();
}

/** Changes the given members of the user, if any. */
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

/** Whether the user has said that they want no more offers of a passkey. */
export async function hasDeclinedPasskeys(db: Database, id: string): Promise<boolean> {
  const query = db.selectFrom('users').select('id').where('id', '=', id);
  return (await query.where('passkeys_declined_at', 'is not', null).executeTakeFirst()) !== undefined;
}

/** Keeps that the user wants no more offers of a passkey. The first time counts. */
export async function declinePasskeys(trx: Transaction<DB>, id: string, at: Date): Promise<void> {
  await trx
    .updateTable('users')
    .set({ passkeys_declined_at: at })
    .where('id', '=', id)
    .where('passkeys_declined_at', 'is', null)
    .execute();
}

/** Makes everybody's profile count as changed now. */
export async function touchAllProfiles(trx: Transaction<DB>): Promise<void> {
  // Any new value will do here: the trigger decides which.
  const touched = { profile_updated_at: sql<Date>`profile_updated_at + interval '1 millisecond'` };
  await runByKeyRanges(trx, { table: 'users', key: 'id' }, (isInRange) =>
    trx.updateTable('users').set(touched).where(isInRange).execute(),
  );
}

/** Deletes the user and all that is only theirs; the account too, unless another user or contracts belong to it. */
export async function deleteUser(trx: Transaction<DB>, { id, account }: User): Promise<void> {
  await trx.deleteFrom('users').where('id', '=', id).execute();
  await deleteUnusedAccount(trx, account.id);
}

/** Suspends the user, or ends that. A trigger ends the sessions of a suspended user. The caller has locked the user. */
export async function setUserSuspended(trx: Transaction<DB>, id: string, at: Date | null): Promise<void> {
  await trx.updateTable('users').set({ suspended_at: at }).where('id', '=', id).execute();
}

/** The caller has locked the user. */
export async function setUserRole(trx: Transaction<DB>, id: string, role: InternalRole): Promise<void> {
  await trx.updateTable('users').set({ role }).where('id', '=', id).execute();
}

/** Freezes the account, or ends that and a suspension. The caller has locked the user. */
export async function setUserFrozen(trx: Transaction<DB>, id: string, at: Date | null): Promise<void> {
  // Whoever was suspended before is so since then.
  const suspendedAt = at && sql<Date>`coalesce(suspended_at, ${at}::timestamptz)`;
  await trx
    .updateTable('users')
    .set({ suspended_at: suspendedAt, frozen_at: at })
    .where('id', '=', id)
    .execute();
}

/** Locks the whole table against writes, until the transaction ends. */
export async function lockUsersTable(trx: Transaction<DB>): Promise<void> {
  await sql`lock table users in share row exclusive mode`.execute(trx);
}

/** Whether there is any user, or any user with one of `ids`. */
export async function hasUsers(db: Database, ids?: string[]): Promise<boolean> {
  let query = db.selectFrom('users').select('id').limit(1);
  if (ids) query = query.where('id', 'in', ids);
  return (await query.executeTakeFirst()) !== undefined;
}

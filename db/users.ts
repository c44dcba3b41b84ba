// Reads and writes `users`; deletions.ts and address-owners.ts have what is theirs. `profile_updated_at` is set by a
// trigger (see the first migration).
import { sql, type Transaction } from 'kysely';
import type { Database } from './postgres/client.ts';
import { prepare, prepareDeferredWrite } from './postgres/prepare.ts';
import type { Reader } from './postgres/reader.ts';
import type { DB } from './schema.ts';

export type InternalRole = 'user' | 'manager' | 'admin';

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
  hasPassword: boolean;
  hasPasskey: boolean;
  /** An authenticator app, whose codes are asked for after the password. */
  hasAuthenticator: boolean;
  suspendedAt: Date | null;
  /** When this user is erased, unless they change their mind before. */
  deletionDueAt: Date | null;
  profileUpdatedAt: Date;
  /** `capabilities` are those granted, in force or not. */
  account: { id: string; name: string; capabilities: string[]; verifiedAt: Date | null };
};

/** For statements with `users as u` and `accounts as a`; `toUser` makes a User of them. */
export const userColumns = [
  'u.id as userId',
  'u.email',
  'u.holds_email as holdsEmail',
  'u.email_verified_at as emailVerifiedAt',
  'u.name',
  'u.name_edited_at as nameEditedAt',
  'u.role',
  sql<boolean>`u.password_hash is not null`.as('hasPassword'),
  'u.has_passkey as hasPasskey',
  'u.has_authenticator as hasAuthenticator',
  'u.suspended_at as suspendedAt',
  'u.deletion_due_at as deletionDueAt',
  'u.profile_updated_at as profileUpdatedAt',
  'a.id as accountId',
  'a.name as accountName',
  'a.capabilities',
  'a.verified_at as accountVerifiedAt',
] as const;

type UserRow = Omit<User, 'id' | 'account'> & {
  userId: string;
  accountId: string;
  accountName: string;
  capabilities: string[];
  accountVerifiedAt: Date | null;
};

export function toUser({
  userId,
  accountId,
  accountName,
  capabilities,
  accountVerifiedAt,
  ...user
}: UserRow): User {
  const account = { id: accountId, name: accountName, capabilities, verifiedAt: accountVerifiedAt };
  return { id: userId, ...user, account };
}

export const selectUsers = (db: Database) =>
  db.selectFrom('users as u').innerJoin('accounts as a', 'a.id', 'u.account_id').select(userColumns);

// As text, not as a parameter: the index is of these rows only.
const isHeld = sql<boolean>`u.holds_email`;

const selectHolder = prepare((db, { email }: { email: string }) =>
  selectUsers(db).where('u.email', '=', email).where(isHeld),
);

/** The one user who holds that address. */
export async function findHolder(db: Database, email: string): Promise<User | undefined> {
  const [row] = await selectHolder(db, { email });
  return row && toUser(row);
}

/** Whose password is checked. */
export type PasswordOwner = {
  userId: string;
  /** Null if they have none. */
  passwordHash: string | null;
  /** Since when they know this device by a credential; null where they never gave one there, or forgot it since. */
  deviceKnownSince: Date | null;
};

const selectPasswordOwner = (db: Database, deviceHash: Uint8Array) =>
  db
    .selectFrom('users as u')
    .leftJoin('devices as d', (join) =>
      join
        .onRef('d.user_id', '=', 'u.id')
        .on('d.token_hash', '=', deviceHash)
        .on('d.forgotten_at', 'is', null),
    )
    .select(['u.id as userId', 'u.password_hash as passwordHash', 'd.known_since as deviceKnownSince']);

const selectHolderPassword = prepare((db, values: { email: string; deviceHash: Uint8Array }) =>
  selectPasswordOwner(db, values.deviceHash).where('u.email', '=', values.email).where(isHeld),
);
const selectOwnPassword = prepare((db, values: { userId: string; deviceHash: Uint8Array }) =>
  selectPasswordOwner(db, values.deviceHash).where('u.id', '=', values.userId),
);

/** Who holds that address, or has that id. Only for checking a password. */
export async function findPasswordOwner(
  read: Reader,
  key: { email: string } | { userId: string },
  deviceHash: Uint8Array,
): Promise<PasswordOwner | undefined> {
  const [row] = await ('email' in key
    ? selectHolderPassword(read, { ...key, deviceHash })
    : selectOwnPassword(read, { ...key, deviceHash }));
  return row;
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
 * Locks account and user until the transaction ends: by `email` the one who holds it; with `passwordHash`, undefined if
 * the user no longer has that one.
 *
 * The account comes first, as everywhere: two orders could deadlock. The keys stay free, so that new rows that refer to
 * these (a contract, a session) need not wait; that would be the other order.
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

export type LinkedUser = {
  user: User;
  /** `profile_updated_at` of the last profile applied from there. */
  appliedProfileUpdatedAt: Date | null;
  /** A password was set by mail since: the link leads nowhere before its user connects it again. */
  isSleeping: boolean;
};

const lockByLink = prepare((db, values: { provider: string; externalId: string }) =>
  db
    .selectFrom('external_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select(userColumns)
    .select(['l.applied_profile_updated_at as appliedProfileUpdatedAt', 'l.sleeping_since as sleepingSince'])
    .where('l.provider', '=', values.provider)
    .where('l.external_id', '=', values.externalId)
    .forUpdate('l')
    .forNoKeyUpdate(['a', 'u']),
);

/** Locks the user of an external link: first the link, then account and user. */
export async function lockLinkedUser(
  trx: Transaction<DB>,
  provider: string,
  externalId: string,
): Promise<LinkedUser | undefined> {
  const [row] = await lockByLink(trx, { provider, externalId });
  if (!row) return undefined;
  const { appliedProfileUpdatedAt, sleepingSince, ...user } = row;
  return { user: toUser(user), appliedProfileUpdatedAt, isSleeping: sleepingSince !== null };
}

type NewUser = Pick<
  User,
  'id' | 'email' | 'holdsEmail' | 'emailVerifiedAt' | 'name' | 'role' | 'suspendedAt'
> & {
  accountId: string;
  passwordHash: string | null;
};

const insert = prepareDeferredWrite((db, user: NewUser) =>
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

export async function insertUser(trx: Transaction<DB>, user: NewUser): Promise<void> {
  await insert(trx, user);
}

/** An edit by the owner, which no hand-off overwrites. */
export async function editUser(trx: Transaction<DB>, id: string, { name }: { name?: string }): Promise<void> {
  await trx
    .updateTable('users')
    .set({ name, name_edited_at: name === undefined ? undefined : sql`now()` })
    .where('id', '=', id)
    .execute();
}

/** Changes what is given, if anything. */
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

/** Everybody's profile counts as changed now. */
export async function touchAllProfiles(trx: Transaction<DB>): Promise<void> {
  // Any new value will do here: the trigger decides which.
  await trx
    .updateTable('users')
    .set({ profile_updated_at: sql`profile_updated_at + interval '1 millisecond'` })
    .execute();
}

/** With all that belongs to this user alone; the account too, unless somebody else belongs to it, or contracts do. */
export async function deleteUser(trx: Transaction<DB>, { id, account }: User): Promise<void> {
  await trx.deleteFrom('users').where('id', '=', id).execute();
  await trx
    .deleteFrom('accounts as a')
    .where('id', '=', account.id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('users as u').select('u.id').whereRef('u.account_id', '=', 'a.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('service_contracts as c').select('c.id').whereRef('c.account_id', '=', 'a.id'))),
    )
    .execute();
}

/** Takes no lock. */
export async function findUserById(db: Database, id: string): Promise<User | undefined> {
  const row = await selectUsers(db).where('u.id', '=', id).executeTakeFirst();
  return row && toUser(row);
}

/** The user's id, or undefined if nobody holds that address. A trigger ends the sessions of a suspended user. */
export async function setUserSuspended(
  trx: Transaction<DB>,
  email: string,
  suspendedAt: Date | null,
): Promise<string | undefined> {
  const row = await trx
    .updateTable('users')
    .set({ suspended_at: suspendedAt })
    .where('email', '=', email)
    .where(sql<boolean>`holds_email`)
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** Locks the whole table against writes, until the transaction ends. */
export async function lockUsersTable(trx: Transaction<DB>): Promise<void> {
  await sql`lock table users in share row exclusive mode`.execute(trx);
}

/** Whether there is anybody, or anybody with one of `ids`. */
export async function hasUsers(db: Database, ids?: string[]): Promise<boolean> {
  let query = db.selectFrom('users').select('id').limit(1);
  if (ids) query = query.where('id', 'in', ids);
  return (await query.executeTakeFirst()) !== undefined;
}

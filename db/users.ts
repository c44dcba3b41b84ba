// The only writer of `users`. `profile_updated_at` is the database's own business (see the first migration).
import { sql, type Transaction } from 'kysely';
import type { Database } from './client.ts';
import { prepare, prepareRead, prepareWrite } from './prepared.ts';
import type { Reader } from './reader.ts';
import type { DB } from './schema.ts';

export type InternalRole = 'user' | 'manager' | 'admin';

/** What login needs to know of a user. */
export type Credentials = {
  id: string;
  passwordHash: string | null;
  suspendedAt: Date | null;
};

const selectCredentials = prepareRead((db, { email }: { email: string }) =>
  db
    .selectFrom('users')
    .select(['id', 'password_hash as passwordHash', 'suspended_at as suspendedAt'])
    .where('email', '=', email),
);

export async function findCredentialsByEmail(read: Reader, email: string): Promise<Credentials | undefined> {
  return (await selectCredentials(read, { email }))[0];
}

export type FoundUser = { id: string; accountId: string; name: string; isSuspended: boolean };

const selectByEmail = prepare((db, { email }: { email: string }) =>
  db.selectFrom('users').select(['id', 'account_id', 'name', 'suspended_at']).where('email', '=', email),
);

export async function findUserByEmail(db: Database, email: string): Promise<FoundUser | undefined> {
  const {
    rows: [row],
  } = await selectByEmail(db, { email });
  return (
    row && { id: row.id, accountId: row.account_id, name: row.name, isSuspended: row.suspended_at !== null }
  );
}

export type NewUser = {
  id: string;
  accountId: string;
  email: string;
  name: string;
  role: InternalRole;
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  suspendedAt?: Date | null;
};

const insert = prepareWrite((db, user: Required<NewUser>) =>
  db.insertInto('users').values({
    id: user.id,
    account_id: user.accountId,
    email: user.email,
    name: user.name,
    role: user.role,
    password_hash: user.passwordHash,
    email_verified_at: user.emailVerifiedAt,
    suspended_at: user.suspendedAt,
  }),
);

export async function insertUser(db: Database, user: NewUser): Promise<void> {
  await insert(db, { suspendedAt: null, ...user });
}

/** An edit by the person, which no hand-off overwrites again. */
export async function editUserName(db: Database, id: string, name: string): Promise<void> {
  await db.updateTable('users').set({ name, name_edited_at: sql`now()` }).where('id', '=', id).execute();
}

/** False where the password is no longer the one that was checked: somebody else changed it meanwhile. */
export async function replacePasswordHash(
  db: Database,
  id: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const result = await db
    .updateTable('users')
    .set({ password_hash: to })
    .where('id', '=', id)
    .where('password_hash', '=', from)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** The user's id, or undefined where nobody has that address. A suspension ends all sessions: a trigger sees to it. */
export async function setUserSuspended(
  db: Database,
  email: string,
  suspendedAt: Date | null,
): Promise<string | undefined> {
  const row = await db
    .updateTable('users')
    .set({ suspended_at: suspendedAt })
    .where('email', '=', email)
    .returning('id')
    .executeTakeFirst();
  return row?.id;
}

/** A user as a hand-off has to know it. */
export type HandOffUser = {
  id: string;
  accountId: string;
  email: string;
  name: string;
  role: InternalRole;
  hasPassword: boolean;
  isSuspended: boolean;
  emailVerifiedAt: Date | null;
  nameEditedAt: Date | null;
};

const handOffUser = [
  'u.id',
  'u.account_id as accountId',
  'u.email',
  'u.name',
  'u.role',
  sql<boolean>`u.password_hash is not null`.as('hasPassword'),
  sql<boolean>`u.suspended_at is not null`.as('isSuspended'),
  'u.email_verified_at as emailVerifiedAt',
  'u.name_edited_at as nameEditedAt',
] as const;

const lockBy = (column: 'id' | 'email') =>
  prepare((db, { value }: { value: string }) =>
    db
      .selectFrom('users as u')
      .innerJoin('accounts as a', 'a.id', 'u.account_id')
      .select(handOffUser)
      .where(`u.${column}`, '=', value)
      .forNoKeyUpdate(['a', 'u']),
  );
const locks = { id: lockBy('id'), email: lockBy('email') };

/**
 * The user of that id or address, account and user held until the transaction ends. The account comes first, as
 * everywhere: two orders would lock each other out. The keys are left alone, so that rows that refer to them (a
 * signup's contract, a session) need not wait, which would be the other order.
 */
export async function lockUser(
  trx: Transaction<DB>,
  key: { id: string } | { email: string },
): Promise<HandOffUser | undefined> {
  const { rows } = await ('id' in key
    ? locks.id(trx, { value: key.id })
    : locks.email(trx, { value: key.email }));
  return rows[0];
}

export type LinkedUser = HandOffUser & { appliedProfileUpdatedAt: Date | null };

const lockByLink = prepare((db, values: { provider: string; externalId: string }) =>
  db
    .selectFrom('external_links as l')
    .innerJoin('users as u', 'u.id', 'l.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select([...handOffUser, 'l.applied_profile_updated_at as appliedProfileUpdatedAt'])
    .where('l.provider', '=', values.provider)
    .where('l.external_id', '=', values.externalId)
    .forUpdate('l')
    .forNoKeyUpdate(['a', 'u']),
);

/** Likewise who is known by that id at the other system; the link is held first, then account and user. */
export async function lockLinkedUser(
  trx: Transaction<DB>,
  provider: string,
  externalId: string,
): Promise<LinkedUser | undefined> {
  return (await lockByLink(trx, { provider, externalId })).rows[0];
}

/** Changes what is given; the rest stays. */
export async function updateUser(
  db: Database,
  id: string,
  change: { name?: string; email?: string; emailVerifiedAt?: Date | null; passwordHash?: string },
): Promise<void> {
  await db
    .updateTable('users')
    .set({
      name: change.name,
      email: change.email,
      email_verified_at: change.emailVerifiedAt,
      password_hash: change.passwordHash,
    })
    .where('id', '=', id)
    .execute();
}

export async function isEmailTaken(db: Database, email: string): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
  return row !== undefined;
}

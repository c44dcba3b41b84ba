// The only writer of `sessions`, but for logins.ts. What makes a session live is decided in
// server/identity/sessions.ts; here it is a pair of instants: made after one, last seen after the other.
import type { Database } from './client.ts';
import { prepareRead, prepareWrite } from './prepared.ts';
import type { Reader } from './reader.ts';
import type { InternalRole } from './users.ts';

/** A session with all that a request needs of its user and account, read in one statement. */
export type SessionRow = {
  id: string;
  lastSeenAt: Date;
  endedAt: Date | null;
  user: SessionUser;
};

export type SessionUser = {
  id: string;
  email: string;
  name: string;
  role: InternalRole;
  emailVerifiedAt: Date | null;
  suspendedAt: Date | null;
  profileUpdatedAt: Date;
  account: { id: string; name: string; capabilities: string[]; verifiedAt: Date | null };
};

export type SessionLimits = { createdAfter: Date; seenAfter: Date };

export type NewSession = {
  id: string;
  tokenHash: Uint8Array;
  userId: string;
  now: Date;
  address: string;
  userAgent: string;
};

const insert = prepareWrite((db, session: NewSession) =>
  db.insertInto('sessions').values({
    id: session.id,
    token_hash: session.tokenHash,
    user_id: session.userId,
    created_at: session.now,
    last_seen_at: session.now,
    address: session.address,
    user_agent: session.userAgent,
  }),
);

export async function insertSession(db: Database, session: NewSession): Promise<void> {
  await insert(db, session);
}

const selectByTokenHash = prepareRead((db, values: SessionLimits & { tokenHash: Uint8Array }) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select([
      's.id',
      's.last_seen_at',
      's.ended_at',
      'u.id as user_id',
      'u.email',
      'u.name',
      'u.role',
      'u.email_verified_at',
      'u.suspended_at',
      'u.profile_updated_at',
      'a.id as account_id',
      'a.name as account_name',
      'a.capabilities',
      'a.verified_at',
    ])
    .where('s.token_hash', '=', values.tokenHash)
    .where('s.created_at', '>', values.createdAfter)
    .where('s.last_seen_at', '>', values.seenAfter),
);

/** Ended sessions too, because a suspended user is recognised by one. */
export async function findSessionByTokenHash(
  read: Reader,
  tokenHash: Uint8Array,
  limits: SessionLimits,
): Promise<SessionRow | undefined> {
  const [row] = await selectByTokenHash(read, { tokenHash, ...limits });
  if (!row) return undefined;
  return {
    id: row.id,
    lastSeenAt: row.last_seen_at,
    endedAt: row.ended_at,
    user: {
      id: row.user_id,
      email: row.email,
      name: row.name,
      role: row.role,
      emailVerifiedAt: row.email_verified_at,
      suspendedAt: row.suspended_at,
      profileUpdatedAt: row.profile_updated_at,
      account: {
        id: row.account_id,
        name: row.account_name,
        capabilities: row.capabilities,
        verifiedAt: row.verified_at,
      },
    },
  };
}

/** Never moves the instant back, whatever the clock of another instance said. */
export async function touchSession(db: Database, id: string, now: Date): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ last_seen_at: now })
    .where('id', '=', id)
    .where('last_seen_at', '<', now)
    .execute();
}

/** Ends the one of `id`, all but `exceptId`, or all; how many of this user's were ended. */
export async function endSessions(
  db: Database,
  userId: string,
  which: { id: string } | { exceptId: string } | 'all',
  now: Date,
): Promise<number> {
  let query = db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null);
  if (which !== 'all')
    query = 'id' in which ? query.where('id', '=', which.id) : query.where('id', '<>', which.exceptId);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

const endByTokenHash = prepareWrite((db, { tokenHash, now }: { tokenHash: Uint8Array; now: Date }) =>
  db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('token_hash', '=', tokenHash)
    .where('ended_at', 'is', null),
);

export async function endSessionByTokenHash(db: Database, tokenHash: Uint8Array, now: Date): Promise<void> {
  await endByTokenHash(db, { tokenHash, now });
}

export type ListedSession = {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  address: string;
  userAgent: string;
};

/** The live ones, the last seen first. */
export async function listSessions(
  db: Database,
  userId: string,
  limits: SessionLimits,
): Promise<ListedSession[]> {
  return db
    .selectFrom('sessions')
    .select([
      'id',
      'created_at as createdAt',
      'last_seen_at as lastSeenAt',
      'address',
      'user_agent as userAgent',
    ])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('created_at', '>', limits.createdAfter)
    .where('last_seen_at', '>', limits.seenAfter)
    .orderBy('last_seen_at', 'desc')
    .limit(100)
    .execute();
}

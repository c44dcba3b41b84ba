// The only writer of `sessions`. server/identity/sessions.ts decides which are live; here that is a pair of instants:
// created after one, last seen after the other.
import type { Database } from './postgres/client.ts';
import { prepare, prepareDeferredWrite } from './postgres/prepare.ts';
import type { Reader } from './postgres/reader.ts';
import { toUser, type User, userColumns } from './users.ts';

export type Session = { id: string; lastSeenAt: Date; endedAt: Date | null; user: User };

export type SessionLimits = { createdAfter: Date; seenAfter: Date };

export type NewSession = {
  id: string;
  tokenHash: Uint8Array;
  userId: string;
  now: Date;
  address: string;
  userAgent: string;
};

const insert = prepareDeferredWrite((db, session: NewSession) =>
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

const selectByTokenHash = prepare((db, values: SessionLimits & { tokenHash: Uint8Array }) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select(['s.id', 's.last_seen_at as lastSeenAt', 's.ended_at as endedAt'])
    .select(userColumns)
    .where('s.token_hash', '=', values.tokenHash)
    .where('s.created_at', '>', values.createdAfter)
    .where('s.last_seen_at', '>', values.seenAfter),
);

/** One statement. Finds ended sessions too: one of those tells that its user is suspended. */
export async function findSessionByTokenHash(
  read: Reader,
  tokenHash: Uint8Array,
  limits: SessionLimits,
): Promise<Session | undefined> {
  const [row] = await selectByTokenHash(read, { tokenHash, ...limits });
  if (!row) return undefined;
  const { id, lastSeenAt, endedAt, ...user } = row;
  return { id, lastSeenAt, endedAt, user: toUser(user) };
}

/** Never moves the instant back, whatever the clocks of other instances say. */
export async function touchSession(db: Database, id: string, now: Date): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ last_seen_at: now })
    .where('id', '=', id)
    .where('last_seen_at', '<', now)
    .execute();
}

/** Ends this user's session `id`, all but `exceptId`, or all. The result is how many. */
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

const endByTokenHash = prepareDeferredWrite((db, { tokenHash, now }: { tokenHash: Uint8Array; now: Date }) =>
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

/** The live ones, last seen first. */
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

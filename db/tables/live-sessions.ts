// Finds live sessions. This file only reads.
import type { Database } from '../postgres/client.ts';
import { prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';
import type { SessionLimits } from './sessions.ts';
import { toUser, type User, userColumns } from './users.ts';

export type Session = {
  id: string;
  lastSeenAt: Date;
  endedAt: Date | null;
  /** When the user last gave a credential. Null if a hand-off started the session. */
  authTime: Date | null;
  amr: string[];
  user: User;
};

const selectSessions = (db: Database, values: SessionLimits & { tokenHash: Uint8Array }) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select([
      's.id',
      's.last_seen_at as lastSeenAt',
      's.ended_at as endedAt',
      's.auth_time as authTime',
      's.amr',
    ])
    .select(userColumns)
    .where('s.token_hash', '=', values.tokenHash)
    .where('s.created_at', '>', values.createdAfter)
    .where('s.last_seen_at', '>', values.seenAfter);

const selectByTokenHash = prepareRead(selectSessions);
const selectWithLaunch = prepareRead(
  (db, values: SessionLimits & { tokenHash: Uint8Array; client: string }) =>
    selectSessions(db, values)
      .leftJoin('launches as l', (join) =>
        join.onRef('l.session_id', '=', 's.id').on('l.client', '=', values.client),
      )
      .select('l.sid'),
);

/** Also finds ended sessions, which may show that the user is suspended. With `client`, `sid` is the session's id there. */
export async function findSessionByTokenHash(
  read: Reader,
  tokenHash: Uint8Array,
  limits: SessionLimits,
  client?: string,
): Promise<(Session & { sid: string | null }) | undefined> {
  const [row] =
    client === undefined
      ? await selectByTokenHash(read, { tokenHash, ...limits })
      : await selectWithLaunch(read, { tokenHash, ...limits, client });
  if (!row) return undefined;
  const { id, lastSeenAt, endedAt, authTime, amr, sid = null, ...user } = { sid: null, ...row };
  return { id, lastSeenAt, endedAt, authTime, amr, sid, user: toUser(user) };
}

export type ListedSession = {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  address: string;
  userAgent: string;
  place: string | null;
};

/** Returns sessions in the order in which they were last seen, the latest first. */
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
      'place',
    ])
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .where('created_at', '>', limits.createdAfter)
    .where('last_seen_at', '>', limits.seenAfter)
    .orderBy('last_seen_at', 'desc')
    .limit(100)
    .execute();
}

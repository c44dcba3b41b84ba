// The only writer of `sessions`. live-sessions.ts finds them.
import { sql, type Transaction } from 'kysely';
import { runByKeyRanges } from '../key-ranges.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';

/** The values of RFC 8176, and `ext` for a hand-off. */
export type Amr = 'pwd' | 'otp' | 'pop' | 'mfa' | 'ext';

/**
 * A session that was created before `createdAfter`, or last seen before `seenAfter`, is no longer live.
 * server/identity/session/sessions.ts sets both instants.
 */
export type SessionLimits = { createdAfter: Date; seenAfter: Date };

export type NewSession = {
  id: string;
  tokenHash: Uint8Array;
  userId: string;
  now: Date;
  authTime: Date | null;
  amr: Amr[];
  address: string;
  userAgent: string;
  /** Roughly where the session started. */
  place: string | null;
};

export const deferSession = prepareDeferred((db, session: NewSession) =>
  db.insertInto('sessions').values({
    id: session.id,
    token_hash: session.tokenHash,
    user_id: session.userId,
    created_at: session.now,
    last_seen_at: session.now,
    auth_time: session.authTime,
    amr: session.amr,
    address: session.address,
    user_agent: session.userAgent,
    place: session.place,
  }),
);

type Renewal = Omit<NewSession, 'id'> & SessionLimits & { previousHash: Uint8Array };

const renew = prepare((db, session: Renewal) =>
  db
    .updateTable('sessions')
    .set({
      token_hash: session.tokenHash,
      created_at: session.now,
      last_seen_at: session.now,
      auth_time: session.authTime,
      amr: session.amr,
      address: session.address,
      user_agent: session.userAgent,
      place: session.place,
    })
    .where('token_hash', '=', session.previousHash)
    .where('user_id', '=', session.userId)
    .where('ended_at', 'is', null)
    .where('created_at', '>', session.createdAfter)
    .where('last_seen_at', '>', session.seenAfter)
    .returning('id'),
);

/** Continues the user's session under a new token, as if it had just started. Returns false if the session is not live. */
export async function renewSession(db: Database, session: Renewal): Promise<boolean> {
  return (await renew(db, session)).length === 1;
}

/** Ends the user's oldest sessions, until only `keep` are left. */
export const deferEndOfOldestSessions = prepareDeferred(
  (db, values: { userId: string; now: Date; createdAfter: Date; keep: number }) =>
    db
      .updateTable('sessions')
      .set({ ended_at: values.now })
      .where('id', 'in', (query) =>
        query
          .selectFrom('sessions')
          .select('id')
          .where('user_id', '=', values.userId)
          .where('created_at', '>', values.createdAfter)
          .where('ended_at', 'is', null)
          .orderBy('created_at', 'desc')
          .offset(sql<number>`${values.keep}`),
      ),
);

export async function setSessionAmr(db: Database, id: string, amr: Amr[]): Promise<void> {
  await db.updateTable('sessions').set({ amr }).where('id', '=', id).execute();
}

/**
 * Records that the session was seen at `now`. Never moves that instant back, even if the clocks of instances differ. Skips a
 * locked session, because the next request of that session will set the instant.
 */
export async function touchSession(db: Database, id: string, now: Date): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ last_seen_at: now })
    .where('id', '=', ({ selectFrom }) =>
      selectFrom('sessions')
        .select('id')
        .where('id', '=', id)
        .where('last_seen_at', '<', now)
        .forNoKeyUpdate()
        .skipLocked(),
    )
    .execute();
}

/** Records that a credential was given. Without `amr`, the credential was a password. Returns false if the session has ended. */
export async function confirmSession(
  db: Database,
  { id, now, amr }: { id: string; now: Date; amr?: Amr[] },
): Promise<boolean> {
  const query = db
    .updateTable('sessions')
    .set({ auth_time: now, amr: amr ?? sql<string[]>`array_replace(amr, 'ext', 'pwd')` })
    .where('id', '=', id)
    .where('ended_at', 'is', null);
  return (await query.executeTakeFirst()).numUpdatedRows === 1n;
}

/** Keeps other transactions from ending the session. Returns false if it has ended already. */
export async function lockOpenSession(db: Database, id: string): Promise<boolean> {
  const query = db.selectFrom('sessions').select('id').where('id', '=', id).where('ended_at', 'is', null);
  return (await query.forUpdate().executeTakeFirst()) !== undefined;
}

type SomeSessions =
  | 'all'
  | { id: string }
  | { exceptId: string }
  /** Finds all sessions that a hand-off started and in which no credential was given. Leaves out the session with this id. */
  | { byHandOffExceptId: string }
  | 'byHandOff'
  | { exceptTokenHash: Uint8Array };

export async function endSessions(
  db: Database,
  userId: string,
  which: SomeSessions,
  now: Date,
): Promise<number> {
  let query = db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null);
  if (which === 'byHandOff') query = query.where('auth_time', 'is', null);
  else if (which !== 'all') {
    if ('id' in which) query = query.where('id', '=', which.id);
    else if ('byHandOffExceptId' in which)
      query = query.where('auth_time', 'is', null).where('id', '<>', which.byHandOffExceptId);
    else if ('exceptId' in which) query = query.where('id', '<>', which.exceptId);
    else query = query.where('token_hash', '<>', which.exceptTokenHash);
  }
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

export async function endAllSessions(trx: Transaction<DB>, now: Date): Promise<number> {
  let ended = 0;
  await runByKeyRanges(trx, { table: 'sessions', key: 'id' }, async (isInRange) => {
    const query = trx.updateTable('sessions').set({ ended_at: now }).where('ended_at', 'is', null);
    ended += Number((await query.where(isInRange).executeTakeFirst()).numUpdatedRows);
  });
  return ended;
}

const endByTokenHash = prepareDeferred((db, { tokenHash, now }: { tokenHash: Uint8Array; now: Date }) =>
  db
    .updateTable('sessions')
    .set({ ended_at: now })
    .where('token_hash', '=', tokenHash)
    .where('ended_at', 'is', null),
);

export function deferEndOfSession(trx: Transaction<DB>, tokenHash: Uint8Array, now: Date): void {
  endByTokenHash(trx, { tokenHash, now });
}

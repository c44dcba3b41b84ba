// The only writer of `log_outs`, apart from the trigger that plans log-outs (db/schema.sql). Each row is one log-out that we
// must tell one client of OpenID Connect about. Times are the database's, so that all instances agree.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { lease, pauseAfter } from './event-deliveries.ts';

/** The first try has `attempts` 1. If there is no `sid`, all sessions of the person at the client end. */
export type LogOut = {
  id: string;
  clientId: string;
  userId: string;
  sid: string | null;
  attempts: number;
};

/**
 * The last try begins seven days and eight minutes after the first one. This counts tries instead of time, because time without
 * tries must not count (contract 14.76).
 */
const maxAttempts = 180;

// No pause is as long as this. If `next_try_at` is further away, the database's clock was set back, and the log-out is tried
// immediately.
const longestWait = sql`now() + interval '61 minutes'`;

/**
 * Gives each log-out to one caller only. The caller must try it now and report the outcome with `recordLogOut`. The statement
 * searches two ranges of time. With a single `or` condition, Postgres would read every log-out that is still to be tried, and
 * would do that four times a second.
 */
export async function claimLogOuts(
  db: Database,
  clients: readonly { id: string; places: number }[],
): Promise<LogOut[]> {
  const attempts = sql`o.attempts + 1`;
  const { rows } = await sql<LogOut>`
    update log_outs o set attempts = ${attempts}, next_try_at = now() + ${pauseAfter(attempts)} + ${lease}
      where o.id = any (array(
        select d.id from unnest(${clients.map(({ id }) => id)}::uuid[], ${clients.map(({ places }) => places)}::int[])
            as c (client_id, places)
          cross join lateral (
            select l.id from (values ('-infinity'::timestamptz, now()), (${longestWait}, 'infinity'))
                as due (after, until)
              cross join lateral (
                select id from log_outs
                  where client_id = c.client_id and next_try_at > due.after and next_try_at <= due.until
                  order by next_try_at limit c.places for update skip locked) l
              limit c.places) d))
      returning o.id, o.client_id as "clientId", o.user_id as "userId", o.sid, o.attempts`.execute(db);
  return rows;
}

/** `failure` says why the client did not accept the log-out. A failure is stored only if no later try has been claimed. */
export async function recordLogOut(
  db: Database,
  { id, attempts }: Pick<LogOut, 'id' | 'attempts'>,
  failure: string | undefined,
): Promise<{ isGivenUp: boolean }> {
  if (failure === undefined) {
    await sql`update log_outs set next_try_at = null, ended_at = clock_timestamp(), failure = null
      where id = ${id}`.execute(db);
    return { isGivenUp: false };
  }
  const isLast = sql<boolean>`attempts >= ${sql.lit(maxAttempts)}`;
  const { rows } = await sql<{ isGivenUp: boolean }>`
    update log_outs set failure = ${failure},
      next_try_at = case when not ${isLast} then now() + ${pauseAfter(sql`attempts`)} end,
      ended_at = case when ${isLast} then clock_timestamp() end
      where id = ${id} and attempts = ${attempts} and ended_at is null
      returning ended_at is not null as "isGivenUp"`.execute(db);
  return { isGivenUp: rows[0]?.isGivenUp ?? false };
}

/** Returns when the client last accepted a log-out. */
export async function findLogOutTaken(db: Database, clientId: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('log_outs')
    .select('ended_at as at')
    .where('client_id', '=', clientId)
    .where('ended_at', 'is not', null)
    .where('failure', 'is', null)
    .orderBy('ended_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? undefined;
}

export type UntakenLogOut = { at: Date; reason: string; who: 'session' | 'person'; isWaiting: boolean };

/**
 * Returns the log-outs whose last try failed, the newest first. If `isWaiting` is true, another try follows. If it
 * is false, the log-out was given up in the last 30 days. `who` says whether one session ends or all sessions of a person.
 */
export async function listUntaken(db: Database, clientId: string, limit: number): Promise<UntakenLogOut[]> {
  const { rows } = await sql<UntakenLogOut>`
    select coalesce(ended_at, made_at) as at, failure as reason, ended_at is null as "isWaiting",
        case when sid is null then 'person' else 'session' end as who
      from log_outs where client_id = ${clientId} and failure is not null
        and (ended_at is null or ended_at > now() - interval '30 days')
      order by at desc limit ${limit}`.execute(db);
  return rows;
}

// The only writer of `event_deliveries`: how far each client has read its events, and the nudge about the newest event. Times
// are the database's, so that all instances agree. If the database's clock was set back, stored times may be in the future.
// Nothing waits for such times.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { inTransaction } from '../postgres/transactions.ts';

/** To save writes, does nothing if `after` is not new and the last pull was less than ten seconds ago. */
export async function recordPull(
  db: Database,
  { client, after }: { client: string; after: number },
): Promise<void> {
  await sql`
    insert into event_deliveries as d (client, acknowledged, pulled_at) values (${client}, ${after}, now())
    on conflict (client) do update
      set acknowledged = greatest(d.acknowledged, excluded.acknowledged), pulled_at = excluded.pulled_at
      where d.acknowledged < excluded.acknowledged or d.pulled_at is null
        or d.pulled_at not between now() - interval '10 seconds' and now() + interval '10 seconds'`.execute(
    db,
  );
}

/**
 * Call this after a restore. The numbers of events start anew then, so the number up to which a client had read means nothing any
 * more.
 */
export async function deleteDeliveries(db: Database): Promise<void> {
  await db.deleteFrom('event_deliveries').execute();
}

/** One try to tell a client that `latest` is its newest event. The first try has `attempts` 1. */
export type Nudge = { client: string; latest: number; attempts: number };

/** Returns the pause after a try: one second after the first try, then twice as long each time, up to an hour. */
export const pauseAfter = (attempts: RawBuilder<unknown>) =>
  sql`least(power(2, ${attempts} - 1), 3600) * interval '1 second'`;
// The lease is longer than a try may take (server/clients/call.ts). If an instance is killed, another instance tries again after
// the lease.
export const lease = sql`interval '12 seconds'`;

// Whether the clock was set back. `now()` is when this claim began. If this claim then waited for a later claim, `nudged_at` is
// slightly later than `now()` although nobody set the clock. So only a time more than ten seconds ahead counts as a clock that
// was set back.
const isSetBack = sql`coalesce(d.nudged_at > now() + interval '10 seconds', false)`;

const notAhead = (column: string) =>
  sql`case when ${sql.ref(column)} > now() then now() else ${sql.ref(column)} end`;

/**
 * Returns whether a nudge of row `d` is due. A newer event starts a new series of tries, but no more than one series a second.
 */
const isDue = (latest: RawBuilder<unknown>) => sql`${latest} > d.acknowledged and case
  when ${latest} > d.nudged then d.nudged_at is null or d.nudged_at <= now() - interval '1 second' or ${isSetBack}
  else d.next_nudge_at is not null and (d.next_nudge_at <= now() or ${isSetBack})
    and d.first_nudged_at > now() - interval '1 day' end`;

/** Gives each nudge to one caller only. The caller must send it now and report the outcome with `recordNudge`. */
export async function claimNudges(db: Database, clients: string[]): Promise<Nudge[]> {
  const isNew = sql`d.nudged < excluded.nudged`;
  const attempts = sql`case when ${isNew} then 1 else d.attempts + 1 end`;
  const { rows } = await sql<Nudge>`
    insert into event_deliveries as d
      (client, nudged, nudged_at, first_nudged_at, attempts, next_nudge_at)
      select s.client, s.latest, now(), now(), 1, now() + ${pauseAfter(sql`1`)} + ${lease}
        from event_sequences s left join event_deliveries d on d.client = s.client
        where s.client = any(${clients}) and s.latest > 0 and (d.client is null or ${isDue(sql`s.latest`)})
        order by s.client
    on conflict (client) do update
      set nudged = excluded.nudged,
        nudged_at = now(),
        first_nudged_at = case when ${isNew} then now() else ${notAhead('d.first_nudged_at')} end,
        attempts = ${attempts},
        next_nudge_at = now() + ${pauseAfter(attempts)} + ${lease}
      where ${isDue(sql`excluded.nudged`)}
    returning d.client, d.nudged::float8 as latest, d.attempts`.execute(db);
  return rows;
}

const isFailing = sql`coalesce(d.failed_at > coalesce(d.succeeded_at, '-infinity'), false)`;

/**
 * `failure` says why the client did not accept the nudge. If a newer nudge was claimed before this call, only the outcome of
 * the newer nudge decides whether another try follows. Returns whether nudges failed before.
 */
export async function recordNudge(
  db: Database,
  { client, latest, attempts }: Nudge,
  failure: string | undefined,
): Promise<{ wasFailing: boolean }> {
  return inTransaction(db, { by: 'service', cause: 'nudges' }, async (trx) => {
    const { rows } = await sql<{ wasFailing: boolean }>`
      select ${isFailing} as "wasFailing" from event_deliveries d where client = ${client} for update`.execute(
      trx,
    );
    await (failure === undefined
      ? sql`update event_deliveries set succeeded_at = clock_timestamp(), failed_at = ${notAhead('failed_at')},
          next_nudge_at = case when nudged = ${latest} then null else next_nudge_at end
          where client = ${client}`
      : sql`update event_deliveries set failed_at = clock_timestamp(), failure = ${failure},
          succeeded_at = ${notAhead('succeeded_at')},
          next_nudge_at = case when nudged = ${latest} and attempts = ${attempts}
            then now() + ${pauseAfter(sql`attempts`)} else next_nudge_at end
          where client = ${client}`
    ).execute(trx);
    return { wasFailing: rows[0]?.wasFailing ?? false };
  });
}

/** Records the outcome of a try that staff made. This does not change the times of any other try. */
export async function recordTry(db: Database, client: string, failure: string | undefined): Promise<void> {
  await db
    .insertInto('event_deliveries')
    .values({ client })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await recordNudge(db, { client, latest: -1, attempts: 0 }, failure);
}

export type Delivery = {
  client: string;
  /** The number of the newest event, or 0 if there is none. */
  latest: number;
  latestAt: Date | null;
  acknowledged: number;
  /** How many unread events are kept, and when the oldest of them happened. */
  behind: number;
  oldestAt: Date | null;
  /** 0 if the client has read all events. */
  oldestSeconds: number;
  pulledAt: Date | null;
  pulledSeconds: number | null;
  succeededAt: Date | null;
  failedAt: Date | null;
  failure: string | null;
  /** Whether the last nudge failed and the client has not read the event since. */
  isFailing: boolean;
};

/** Returns one entry for each client, in the order of `clients`. */
export async function listDeliveries(db: Database, clients: string[]): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    select c.client, coalesce(s.latest, 0)::float8 as latest, newest.occurred_at as "latestAt",
      coalesce(d.acknowledged, 0)::float8 as acknowledged,
      coalesce(s.latest - oldest.seq + 1, 0)::float8 as behind, oldest.occurred_at as "oldestAt",
      greatest(coalesce(extract(epoch from now() - oldest.occurred_at), 0), 0)::float8 as "oldestSeconds",
      d.pulled_at as "pulledAt", extract(epoch from now() - d.pulled_at)::float8 as "pulledSeconds", d.succeeded_at as "succeededAt", d.failed_at as "failedAt", d.failure,
      ${isFailing} and d.acknowledged < s.latest as "isFailing"
    from unnest(${clients}::text[]) with ordinality c (client, place)
    left join event_sequences s on s.client = c.client
    left join event_deliveries d on d.client = c.client
    left join lateral (
      select seq, occurred_at from events e where e.client = c.client and e.seq > coalesce(d.acknowledged, 0)
        order by e.seq limit 1
    ) oldest on true
    left join events newest on newest.client = c.client and newest.seq = s.latest
    order by c.place`.execute(db);
  return rows;
}

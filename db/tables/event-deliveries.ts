// The only writer of `event_deliveries`: how far each client has come with its events, and the nudge about its newest one.
// Times are the database's own, so that all instances agree on them. After the clock was set back, stored times may lie ahead
// of it: that is no reason to wait.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { inTransaction } from '../postgres/transactions.ts';

/** Records a pull that carried `after`. Writes only if `after` is new, or the last pull was a while ago. */
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

/** For after a restore: no client has read as far as the rows say. */
export async function deleteDeliveries(db: Database): Promise<void> {
  await db.deleteFrom('event_deliveries').execute();
}

/** One try to tell a client that `latest` is its newest event; the first one is `attempts` 1. */
export type Nudge = { client: string; latest: number; attempts: number };

// One second after the first try, then twice as long each time.
const pauseAfter = (attempts: RawBuilder<unknown>) =>
  sql`least(power(2, ${attempts} - 1), 3600) * interval '1 second'`;
// A little longer than a try may take (server/events/nudges.ts). If its instance is killed, another one tries again after that.
const lease = sql`interval '12 seconds'`;

// The clock was set back after the last try, by more than two claims that wait for each other may differ.
const isSetBack = sql`coalesce(d.nudged_at > now() + interval '10 seconds', false)`;

/** A stored time, or now if the stored time is ahead of the clock. */
const notAhead = (column: string) =>
  sql`case when ${sql.ref(column)} > now() then now() else ${sql.ref(column)} end`;

/** Whether the client of a row `d` is to be told of `latest` now. A newer number begins anew, at most once a second. */
const isDue = (latest: RawBuilder<unknown>) => sql`${latest} > d.acknowledged and case
  when ${latest} > d.nudged then d.nudged_at is null or d.nudged_at <= now() - interval '1 second' or ${isSetBack}
  else d.next_nudge_at is not null and (d.next_nudge_at <= now() or ${isSetBack})
    and d.first_nudged_at > now() - interval '1 day' end`;

/**
 * The nudges that are due for these clients. Each nudge goes to one caller only, who has to try it now and report the outcome
 * with `recordNudge`.
 */
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

// The last try to end was a failure.
const isFailing = sql`coalesce(d.failed_at > coalesce(d.succeeded_at, '-infinity'), false)`;

/**
 * Records the outcome of a try: `failure` says why the client did not take it. Whether another try follows is up to the newest
 * nudge; a nudge that was overtaken only shows whether the client takes nudges. The result is whether nudges failed before.
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

export type Delivery = {
  client: string;
  /** The number of the newest event, 0 if there is none, and when it happened. */
  latest: number;
  latestAt: Date | null;
  /** The client has read all events up to this one. */
  acknowledged: number;
  /** How many kept events the client has not read, and the oldest of them. */
  behind: number;
  oldestAt: Date | null;
  /** The age of the oldest unread event, in seconds; 0 if the client has read all. */
  oldestSeconds: number;
  pulledAt: Date | null;
  /** How long ago the client last pulled, in seconds. */
  pulledSeconds: number | null;
  /** When the client last took a nudge, when it last did not, and why. */
  succeededAt: Date | null;
  failedAt: Date | null;
  failure: string | null;
  /** The last nudge was not taken, and the client has not read by itself what it is about. */
  isFailing: boolean;
};

/** One delivery for each of these clients, in the clients' order. */
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

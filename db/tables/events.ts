// The events for clients (contract 10.2 to 10.6). Triggers append them to `events`. This file gives them their numbers.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { runByKeyRanges } from '../key-ranges.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';
import type { DB } from '../schema.ts';
import { type Contract, readPrice, readSetTime } from './service-contracts.ts';
import type { User } from './users.ts';

export type ProfileSnapshot = Pick<User, 'id' | 'email' | 'name' | 'role' | 'profileUpdatedAt'> & {
  account: Pick<User['account'], 'capabilities' | 'verifiedAt'>;
};

export type ContractSnapshot = Omit<
  Contract,
  'accountId' | 'nextPeriodStartsAt' | 'billingAnchorDay' | 'reportedCancelsAt' | 'chosenCancelsAt'
>;

/** An event says what was true at `occurredAt`. */
export type ClientEvent = { seq: number; occurredAt: Date } & (
  | { type: 'profile.updated'; userId: string; profile: ProfileSnapshot }
  | { type: 'session.ended'; userId: string; sid: string }
  | { type: 'user.suspended' | 'user.restored' | 'user.deleted'; userId: string }
  | { type: 'contract.updated'; userId: string; contract: ContractSnapshot }
  | { type: 'erased' }
);

// A restore raises the numbers by this much, which is more than the number of events that any client can have had in the lost
// time. Below Number.MAX_SAFE_INTEGER there is room for millions of restores.
const restoreGap = 1_000_000_000;

// The number just before the first number of a sequence. It grows with each restore, because the client may have read events that
// the restore has lost.
const start = sql`(select count(*) * ${sql.lit(restoreGap)} from restores)`;

/** `latest` is the last number. `oldest` is the number of the oldest kept event, or the next number if no event is kept. */
export type EventPosition = { latest: number; oldest: number; hasUnnumbered: boolean };

const selectPosition = prepareRead((db, values: { client: string }) =>
  db.selectNoFrom([
    sql<string>`coalesce(
      (select latest from event_sequences where client = ${values.client}), ${start})`.as('latest'),
    sql<string | null>`(
      select seq from events where client = ${values.client} and seq is not null order by seq limit 1)`.as(
      'oldest',
    ),
    sql<boolean>`exists (select from events where client = ${values.client} and seq is null)`.as(
      'hasUnnumbered',
    ),
  ]),
);

export async function findEventPosition(on: Database | Reader, client: string): Promise<EventPosition> {
  const [row] = await selectPosition(on, { client });
  if (!row) throw new Error('a position is always one row');
  const latest = Number(row.latest);
  return {
    latest,
    oldest: row.oldest === null ? latest + 1 : Number(row.oldest),
    hasUnnumbered: row.hasUnnumbered,
  };
}

/**
 * Other transactions that number events of this client wait until this transaction ends (docs/inside/decisions/event-numbers.md).
 * If another transaction has locked an event, it is erasing the event's person. In that case, this skips the event and all later
 * events about the person, even if the erasure has not locked them yet. Otherwise later events would get lower numbers if the
 * erasure is rolled back.
 */
export async function numberEvents(
  trx: Transaction<DB>,
  client: string,
  limit: number,
): Promise<{ numbered: number; hasMore: boolean }> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`events for ${client}`}, 0))`.execute(trx);
  // This is a separate statement, so it sees what was committed before we got the lock. `numbered_at` never goes back, so that
  // the oldest numbers are deleted first. "Between" and the order make Postgres use the index of events without a number. With
  // an order by id alone, Postgres read a million numbered events first.
  const select = (columns: RawBuilder<unknown>) => sql`
    select ${columns} from events where client between ${client} and ${client} and seq is null order by client, id`;
  const { rows } = await sql<{ numbered: number; free: number }>`
    with free as materialized (
      ${select(sql`id, user_id`)} limit ${sql.lit(limit)} for update skip locked
    ), held as materialized (
      select user_id from events where client = ${client} and seq is null and user_id is not null
        and id >= (${select(sql`id`)} limit 1) and id < (select max(id) from free) and id not in (select id from free)
    ), batch as materialized (
      select id from free where user_id is null or user_id not in (select user_id from held)
    ), moment as materialized (
      select greatest(clock_timestamp(), (
        select numbered_at from events where client = ${client} and seq is not null order by seq desc limit 1)) as at
    ), sequence as (
      insert into event_sequences as s (client, latest)
        select ${client}::text, ${start} + count(*) from batch having count(*) > 0
      on conflict (client) do update set latest = s.latest + (select count(*) from batch)
      returning latest
    ), numbered as (
      update events e set seq = sequence.latest - ordered.behind, numbered_at = moment.at
      from (select id, count(*) over () - row_number() over (order by id) as behind from batch) ordered, sequence, moment
      where e.id = ordered.id
      returning 1
    )
    select (select count(*) from numbered)::int as numbered, (select count(*) from free)::int as free`.execute(
    trx,
  );
  const { numbered = 0, free = 0 } = rows[0] ?? {};
  return { numbered, hasMore: free === limit && numbered > 0 };
}

/** Lists the clients that have events without a number. The cost does not depend on the number of events. */
export async function listUnnumberedClients(db: Database): Promise<string[]> {
  const first = sql`select client from events where seq is null`;
  const { rows } = await sql<{ client: string }>`
    with recursive c as (
      (${first} order by client limit 1)
      union all
      select (${first} and client > c.client order by client limit 1) from c where c.client is not null
    )
    select client from c where client is not null`.execute(db);
  return rows.map(({ client }) => client);
}

const selectEvents = prepare((db, values: { client: string; after: number; last: number }) =>
  db
    .selectFrom('events')
    .select(['seq', 'type', 'user_id', 'contract_id', 'occurred_at', 'body'])
    .where('client', '=', values.client)
    .where('seq', '>', sql<string>`${values.after}`)
    .where('seq', '<=', sql<string>`${values.last}`)
    .orderBy('seq'),
);

/** Returns events in the order of their numbers. Numbers have no gaps, so the last number is at most `after` plus `limit`. */
export async function listEvents(
  db: Database,
  { client, after, limit }: { client: string; after: number; limit: number },
): Promise<ClientEvent[]> {
  const rows = await selectEvents(db, { client, after, last: after + limit });
  return rows.map((row) => readEvent(row as Row));
}

/** Does not erase events of this transaction. If SQL deletes a person, a trigger erases their events. */
export const eraseEventsOf = (trx: Transaction<DB>, userId: string): Promise<void> =>
  runByKeyRanges(trx, { table: 'events', key: 'id', userId }, (isInRange) =>
    sql`update events set type = 'erased', user_id = null, contract_id = null, body = null
      where ${isInRange} and made_in <> pg_current_xact_id()`.execute(trx),
  );

/** Ids that the doctor gives its test people. These ids belong to no user (contract 3.32). */
const testId = '00000000-0000-7%';

/** An event about one of the doctor's test people, or an `erased` event. Triggers append all other events. */
export type TestEvent = { type: ClientEvent['type']; userId: string | null; body: object | null };

/** Throws unless each event is about a test person or is `erased`. */
export async function appendTestEvents(
  trx: Transaction<DB>,
  client: string,
  events: readonly TestEvent[],
): Promise<void> {
  for (const { type, userId, body } of events) {
    const { numAffectedRows } = await sql`
      insert into events (client, type, user_id, body)
      select ${client}, ${type}, ${userId}::uuid, ${body && JSON.stringify(body)}::jsonb
      where case when ${userId}::text is null then ${type} = 'erased'
        else ${userId} like ${testId} and not exists (select from users where id = ${userId}::uuid) end`.execute(
      trx,
    );
    if (numAffectedRows !== 1n) throw new Error('This is not the id of a test person.');
  }
}

/** Call this after a restore. No number that may have been given since the backup is given again. */
export async function restartEvents(trx: Transaction<DB>): Promise<void> {
  // Without this lock, another transaction could number an event before this one ends, and a gap would follow that number.
  await sql`lock table events in exclusive mode`.execute(trx);
  await runByKeyRanges(trx, { table: 'events', key: 'id' }, (isInRange) =>
    trx.deleteFrom('events').where(isInRange).execute(),
  );
  await trx
    .updateTable('event_sequences')
    .set({ latest: sql`latest + ${sql.lit(restoreGap)}` })
    .execute();
}

type ProfileBody = {
  email: string;
  name: string;
  role: User['role'];
  profile_updated_at: string;
  capabilities: string[];
  verified_at: string | null;
};

type ContractBody = {
  signup_id: string;
  status: Contract['status'];
  plan: string;
  trial_ends_at: string | null;
  price_currency: string | null;
  price_unit_amount: number | null;
  price_interval: 'month' | 'year' | null;
  /** Undefined in events that version 1.0.0 made. Such events are kept for 90 days. */
  price_each?: number | null;
  price_quantity?: number | null;
  occurred_at: string;
  cancels_at: string | null;
};

/** A row as triggers write it (append_profile_event and others in db/schema.sql). */
type Row = { seq: string; occurred_at: Date; user_id: string; contract_id: string } & (
  | { type: 'profile.updated'; body: ProfileBody }
  | { type: 'session.ended'; body: { sid: string } }
  | { type: 'user.suspended' | 'user.restored' | 'user.deleted' | 'erased' }
  | { type: 'contract.updated'; body: ContractBody }
);

function readEvent(row: Row): ClientEvent {
  const { user_id: userId, occurred_at: occurredAt } = row;
  const event = { seq: Number(row.seq), occurredAt };
  switch (row.type) {
    case 'profile.updated':
      return { ...event, type: row.type, userId, profile: readProfile(userId, row.body) };
    case 'session.ended':
      return { ...event, type: row.type, userId, sid: row.body.sid };
    case 'contract.updated':
      return {
        ...event,
        type: row.type,
        userId,
        contract: readContract({ id: row.contract_id, userId, occurredAt }, row.body),
      };
    case 'erased':
      return { ...event, type: row.type };
    default:
      return { ...event, type: row.type, userId };
  }
}

const readProfile = (id: string, body: ProfileBody): ProfileSnapshot => ({
  id,
  email: body.email,
  name: body.name,
  role: body.role,
  profileUpdatedAt: new Date(body.profile_updated_at),
  account: {
    capabilities: body.capabilities,
    verifiedAt: body.verified_at === null ? null : new Date(body.verified_at),
  },
});

const readContract = (
  { id, userId, occurredAt }: Pick<ContractSnapshot, 'id' | 'userId' | 'occurredAt'>,
  body: ContractBody,
): ContractSnapshot => ({
  id,
  userId,
  signupId: body.signup_id,
  plan: body.plan,
  status: body.status,
  trialEndsAt: body.trial_ends_at === null ? null : readSetTime(new Date(body.trial_ends_at)),
  cancelsAt: body.cancels_at ? readSetTime(new Date(body.cancels_at)) : null,
  price: readPrice(body),
  // SQL can set a time that is not a valid instant. Such a time must not stop the client from reading further events.
  occurredAt: readSetTime(new Date(body.occurred_at)) ?? occurredAt,
});

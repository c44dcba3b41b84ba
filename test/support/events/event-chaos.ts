// Runs writers and clients of events at the same time. At the end, checks what the clients were told and what they keep, by
// contract section 10.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { findUserById } from '../../../db/tables/users.ts';
import { numberAllEvents } from '../../../server/events/number-events.ts';
import { buildStandardProfile } from '../../../server/identity/person/profile.ts';
import type { Config } from '../../../server/settings/config.ts';
import { createRandom, seed } from '../run/random.ts';
import { type Ask, createEventClient, type EventClient } from './event-client.ts';
import { startWriters } from './event-writers.ts';
import { bearerOf } from './events.ts';
import type { NudgedClient } from './nudged-client.ts';

const patienceMs = 30_000;
// A nudge may first meet a URL that hangs, and then an instance that is killed. After that, it is sent again only after 24
// seconds.
const nudgePatienceMs = 90_000;
// Each client has several readers. Each read numbers new events, so two readers number the events of one client at the same
// time. They must not disturb each other.
const readersOfEach = 4;

/**
 * `asks` send requests to the instances, and `happening` disturbs the instances. `nudged` reads only if it is nudged. Returns
 * the faults.
 */
export async function runEventChaos(
  { db, asks, config, nudged }: { db: Database; asks: Ask[]; config: Config; nudged?: NudgedClient },
  happening: (hasFault: () => boolean) => Promise<void>,
): Promise<{ faults: string[]; figures: Record<string, number> }> {
  const random = createRandom(seed);
  const headersOf = (name: string) => bearerOf({ config }, name);
  const polling = [...config.clients.keys()].filter((name) => name !== nudged?.name);
  const readers = Array.from({ length: readersOfEach }, () =>
    polling.map((name) => createEventClient({ name, asks, random, headers: headersOf(name) })),
  ).flat();
  const writers = startWriters({ db, asks, config, random });
  let isOver = false;
  let last = Number.POSITIVE_INFINITY;
  const nudgedReading = nudged?.read(
    asks,
    headersOf(nudged.name),
    ({ readPosition }) => readPosition() >= last,
  );
  const reading = readers.map(async (reader) => {
    while (!isOver) {
      await reader.step();
      await pause(random() * 20);
    }
  });
  try {
    await happening(() => readers.some(({ faults }) => faults.length > 0));
  } finally {
    await writers.stop();
    isOver = true;
    await Promise.all(reading);
  }
  const faults = [...writers.faults];
  for (const reader of readers) faults.push(...(await catchUp(reader)), ...(await compare(db, reader)));
  if (nudged && nudgedReading) {
    nudged.recover();
    last = await changeOnceMore(db, nudged.name);
    const hint = setTimeout(() => {
      faults.push(`${nudged.name} is not nudged any more`);
      last = 0;
    }, nudgePatienceMs);
    const reader = await nudgedReading;
    clearTimeout(hint);
    readers.push(reader);
    faults.push(...reader.faults, ...(await compare(db, reader)));
  }
  const figures = {
    events: readers.reduce((sum, { seen }) => sum + seen.size, 0),
    erased: readers.reduce(
      (sum, { seen }) => sum + [...seen.values()].filter(({ type }) => type === 'erased').length,
      0,
    ),
    crashes: readers.reduce((sum, { countCrashes }) => sum + countCrashes(), 0),
    ...nudged?.countNudges(),
    ...Object.fromEntries(writers.done),
  };
  return { faults, figures };
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Changes everybody whom this client knows. Returns how many events the client has after the changes. */
async function changeOnceMore(db: Database, client: string): Promise<number> {
  await sql`update users set name = name || '!' where id in
    (select user_id from client_users where client = ${client})`.execute(db);
  await numberAllEvents({ db });
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from events where client = ${client}`.execute(db);
  return rows[0]?.n ?? 0;
}

async function catchUp(reader: EventClient): Promise<string[]> {
  const until = performance.now() + patienceMs;
  while (!(await reader.step({ maxWait: 0 }))) {
    if (performance.now() > until) return [`${reader.name} does not come to an end`];
    await pause(5);
  }
  return reader.faults;
}

/** Compares what a client keeps in the end with the rows of the service. Returns the faults. */
async function compare(db: Database, reader: EventClient): Promise<string[]> {
  const { name, profiles, suspended, endedSids, contracts, seen } = reader;
  const faults: string[] = [];
  const expectSame = (what: string, held: unknown, master: unknown) => {
    const [one, other] = [JSON.stringify(held), JSON.stringify(master)];
    if (one !== other) faults.push(`${name} has of ${what} ${one}, and it is ${other}`);
  };
  const list = async (query: ReturnType<typeof sql<{ value: string }>>) =>
    (await query.execute(db)).rows.map(({ value }) => value);

  const known = await list(sql`select user_id::text as value from client_users where client = ${name}`);
  expectSame('its people', [...profiles.keys()].sort(), known.sort());
  for (const id of await list(sql`
    select distinct s.user_id::text as value from launches l join sessions s on s.id = l.session_id
    where l.client = ${name}`))
    if (!known.includes(id)) faults.push(`${name} was handed ${id}, and hears nothing of them`);
  for (const id of known) {
    const user = await findUserById(db, id);
    expectSame(`the profile of ${id}`, profiles.get(id), user && buildStandardProfile(user));
    expectSame(`the suspension of ${id}`, suspended.has(id), Boolean(user?.suspendedAt));
  }
  const launches = sql`from launches l left join sessions s on s.id = l.session_id where l.client = ${name}`;
  for (const sid of await list(
    sql`select sid as value ${launches} and (s.id is null or s.ended_at is not null)`,
  ))
    if (!endedSids.has(sid)) faults.push(`${name} was not told that ${sid} has ended`);
  for (const sid of await list(
    sql`select sid as value ${launches} and s.ended_at is null and s.id is not null`,
  ))
    if (endedSids.has(sid)) faults.push(`${name} was told that ${sid} has ended`);
  if (name === 'crm_app') {
    const { rows } = await sql<{ id: string; plan: string; status: string }>`
      select id::text, plan, status from service_contracts order by id`.execute(db);
    const held = new Map([...contracts].map(([id, contract]) => [id, contract as (typeof rows)[number]]));
    for (const { id, plan, status } of rows) {
      const told = held.get(id);
      expectSame(`contract ${id}`, [told?.plan, told?.status], [plan, status]);
    }
  }
  // The table itself must have no gap, no number twice, and no event without a number.
  const { rows } = await sql`
    select count(*)::int as n, coalesce(max(seq), 0)::int as newest, count(distinct seq)::int as each
    from events where client = ${name}`.execute(db);
  expectSame('the table', { n: seen.size, newest: seen.size, each: seen.size }, rows[0]);
  return faults;
}

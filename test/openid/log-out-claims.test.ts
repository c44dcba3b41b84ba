// Which instance makes which try to post a log-out, and when (contract 14.73 to 14.76). The database decides this by its own
// clock.
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import {
  claimLogOuts,
  findLogOutTaken,
  type LogOut,
  listUntaken,
  recordLogOut,
} from '../../db/tables/log-outs.ts';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { connect } from '../support/database/postgres.ts';
import { addRow } from '../support/openid/log-outs.ts';
import { shared } from '../support/run/shared.ts';

const database = shared(openFreshDatabase);
const many = shared(async () => connect(database.url, { poolSize: 16 }));
let client: { id: string; name: string };
beforeEach(async () => {
  client = await addRow(database);
});

const person = '0190f5a0-0000-7000-8000-000000000001';

const plan = (count = 1, sid: string | null = 'the sid', of = client) =>
  sql`insert into log_outs (client_id, user_id, sid)
    select ${of.id}, ${person}, ${sid} from generate_series(1, ${count}::int)`.execute(database.db);
const claim = (places = 16) => claimLogOuts(many.db, [{ id: client.id, places }]);
const fail = (logOut: LogOut) => recordLogOut(database.db, logOut, 'HTTP 500');

async function requireClaim(): Promise<LogOut> {
  const [logOut] = await claim();
  if (!logOut) throw new Error('no log-out is due');
  return logOut;
}

/** Acts as if that much time had passed. */
const letPass = (time: string) =>
  sql`update log_outs set made_at = made_at - ${time}::interval, next_try_at = next_try_at - ${time}::interval,
    ended_at = ended_at - ${time}::interval where client_id = ${client.id}`.execute(database.db);

async function readPause(): Promise<number> {
  const { rows } = await sql<{
    seconds: number;
  }>`select round(extract(epoch from next_try_at - now()))::float8 as seconds
    from log_outs where client_id = ${client.id}`.execute(database.db);
  return rows[0]?.seconds ?? Number.NaN;
}

it('each goes to one of 16 who ask at once, and no client gets more than its places (contract 14.73)', async () => {
  await plan(40);
  const claims = await Promise.all(Array.from({ length: 16 }, () => claim(2)));
  for (const each of claims) expect(each.length).toBeLessThanOrEqual(2);
  const ids = claims.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (let rest = await claim(); rest.length > 0; rest = await claim()) ids.push(...rest.map(({ id }) => id));
  expect(new Set(ids).size).toBe(40);
  expect(ids).toHaveLength(40);
});

it('none waits for another one that somebody has locked', async () => {
  await plan(2);
  await database.db.transaction().execute(async (trx) => {
    await sql`select from log_outs where client_id = ${client.id} limit 1 for update`.execute(trx);
    expect(await claim()).toHaveLength(1);
  });
});

it('each client has its own, and one that is not asked for waits (contract 14.76)', async () => {
  const other = await addRow(database);
  await plan(3);
  await plan(1, 'other', other);
  expect(await claimLogOuts(database.db, [{ id: other.id, places: 5 }])).toMatchObject([
    { clientId: other.id, userId: person, sid: 'other', attempts: 1 },
  ]);
  expect(await claimLogOuts(database.db, [])).toEqual([]);
  const both = [client, other].map(({ id }) => ({ id, places: 2 }));
  expect((await claimLogOuts(database.db, both)).map(({ clientId }) => clientId)).toEqual([
    client.id,
    client.id,
  ]);
});

it('a try whose instance was killed is made again, once it cannot be under way any more', async () => {
  await plan();
  await claim();
  await letPass('11 seconds');
  expect(await claim()).toEqual([]);
  await letPass('2 seconds');
  expect(await claim()).toMatchObject([{ attempts: 2 }]);
});

it('tries are a second apart, then twice as long each time, up to an hour, for seven days (contract 14.73)', async () => {
  await plan();
  const pauses: number[] = [];
  let seconds = 0;
  for (;;) {
    const { isGivenUp } = await fail(await requireClaim());
    if (isGivenUp) break;
    expect(await claim()).toEqual([]);
    const pause = await readPause();
    pauses.push(pause);
    seconds += pause;
    await letPass(`${pause} seconds`);
  }
  expect(pauses.slice(0, 14)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600, 3_600]);
  expect(Math.max(...pauses)).toBe(3_600);
  expect(seconds).toBeGreaterThanOrEqual(7 * 86_400);
  expect(seconds).toBeLessThan(7 * 86_400 + 3_600);
  await letPass('1 day');
  expect(await claim()).toEqual([]);
});

it('a client that answers after six days gets each log-out (contract 14.73)', async () => {
  await plan(3);
  for (let hours = 0; hours < 6 * 24; hours++) {
    for (const each of await claim()) await fail(each);
    await letPass('1 hour');
  }
  const due = await claim();
  expect(due).toHaveLength(3);
  for (const each of due) await recordLogOut(database.db, each, undefined);
  await letPass('2 hours');
  expect(await claim()).toEqual([]);
  expect(await listUntaken(database.db, client.id, 10)).toEqual([]);
});

it('what is given up is listed with its last reason for 30 days, and then goes (contract 14.74)', async () => {
  await plan(1, 'one');
  await plan(1, null);
  await sql`update log_outs set attempts = 179 where client_id = ${client.id}`.execute(database.db);
  for (const each of await claim())
    expect(await recordLogOut(database.db, each, each.sid ? 'HTTP 500' : 'timed out')).toEqual({
      isGivenUp: true,
    });
  const read = async () =>
    (await listUntaken(database.db, client.id, 10)).map(({ reason, who }) => `${who}: ${reason}`).sort();
  expect(await read()).toEqual(['person: timed out', 'session: HTTP 500']);
  expect(await listUntaken(database.db, client.id, 1)).toHaveLength(1);
  expect(await findLogOutTaken(database.db, client.id)).toBeUndefined();
  await letPass('29 days 23 hours');
  expect(await read()).toHaveLength(2);
  await letPass('2 hours');
  expect(await read()).toEqual([]);
  await letPass('11 days');
  await sweep(database);
  const { rows } = await sql`select from log_outs where client_id = ${client.id}`.execute(database.db);
  expect(rows).toEqual([]);
});

it('one that was taken is not tried again, whatever an overtaken try says', async () => {
  await plan();
  const first = await requireClaim();
  await letPass('1 minute');
  const second = await requireClaim();
  await fail(first);
  expect(await readPause()).toBe(14);
  await recordLogOut(database.db, second, undefined);
  await fail(second);
  await letPass('2 hours');
  expect(await claim()).toEqual([]);
  expect(await findLogOutTaken(database.db, client.id)).toBeInstanceOf(Date);
});

it('the time does not run while no try is made: one that waited for 20 days is tried like a new one (contract 14.76)', async () => {
  await plan();
  await fail(await requireClaim());
  await letPass('20 days');
  expect(await fail(await requireClaim())).toEqual({ isGivenUp: false });
  expect(await readPause()).toBe(2);
});

it('nothing waits because the clock was set back', async () => {
  await plan();
  await letPass('-1 day');
  await fail(await requireClaim());
  expect(await readPause()).toBe(1);
});

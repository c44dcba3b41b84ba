// Contract 9.112, 10.23 and 10.66: after a restore, numbers that the restore has undone are not given to new events, and every
// client starts afresh.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { restartEvents } from '../../db/tables/events.ts';
import { codeOf, openApp } from '../support/app/app.ts';
import { hasTerminals, runCli, runCliAtTerminal } from '../support/app/cli.ts';
import { backUpDatabase } from '../support/database/postgres.ts';
import {
  addVisitor,
  askForEvents,
  latestOf,
  launch,
  openSession,
  pull,
  readOn,
} from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const gap = 1_000_000_000;

const expectGone = async (client: string, after: number) => {
  const answer = await askForEvents(app, client, `?after=${after}`);
  expect([answer.status, codeOf(answer)]).toEqual([410, 'events_gone']);
  return JSON.parse(answer.text).oldest as number;
};

it('a client gets 410 and then the present state, whether or not it has seen what is lost', async () => {
  const visitor = await addVisitor(app, 'marketplace');
  const atBackup = await latestOf(app, 'marketplace');
  const backup = await backUpDatabase(app.databaseUrl);
  await expect.poll(async () => (await app.send('/readyz')).status, { timeout: 15_000 }).toBe(200);
  // These changes come after the backup, so the restore undoes them. The network site was never told anything before.
  for (let n = 0; n < 5; n++)
    await sql`update users set name = ${`Lost ${n}`} where id = ${visitor.id}`.execute(app.db);
  await launch(app, 'network_site', visitor.cookie);
  const lost = await latestOf(app, 'marketplace');
  expect([lost, await latestOf(app, 'network_site')]).toEqual([atBackup + 5, 1]);
  await backup.restore();
  await expect.poll(async () => (await app.send('/readyz')).status, { timeout: 15_000 }).toBe(200);
  const outcome = await runCli(app.databaseUrl, ['database:restored']);
  expect(outcome).toMatchObject({ code: 0, err: '' });

  const oldest = gap + atBackup + 1;
  for (const after of [0, 1, atBackup, lost, gap, oldest + 100])
    expect(await expectGone('marketplace', after)).toBe(oldest);
  const told = await readOn(app, 'marketplace', oldest - 1);
  expect(told).toMatchObject([
    { seq: oldest, type: 'session.ended', sid: visitor.payloads[0]?.sid },
    { seq: oldest + 1, type: 'profile.updated', user_id: visitor.id },
  ]);
  const later = told[1]?.profile?.profile_updated_at ?? '';
  expect(later > (visitor.payloads[0]?.profile.profile_updated_at ?? '')).toBe(true);

  // The restore has undone this client's first event. No other event may get its number, because the client would take it for
  // the first event.
  for (const after of [0, 1]) expect(await expectGone('network_site', after)).toBe(gap + 1);
  expect(await pull(app, 'network_site', `?after=${gap}`)).toEqual({ events: [], latest: gap });
  await launch(app, 'network_site', await openSession(app.db, visitor));
  expect((await readOn(app, 'network_site', gap)).map(({ seq }) => seq)).toEqual([gap + 1]);
  const { rows } = await sql`select from event_deliveries where acknowledged < ${gap}`.execute(app.db);
  expect(rows).toEqual([]);
});

it.skipIf(!hasTerminals)('asks at a terminal, and names the database (contract 11.111)', async () => {
  const { pathname, port } = new URL(app.databaseUrl);
  const name = `${pathname.slice(1)} at this machine:${port}`;
  const visitor = await addVisitor(app, 'marketplace');
  const refused = await runCliAtTerminal(app.databaseUrl, ['database:restored'], 'no');
  expect(refused.code, refused.out).toBe(1);
  expect(refused.out).toContain(`End all sessions and links in the database ${name}?`);
  expect(refused.out).toContain('Nothing was done.');
  expect((await app.send('/profile', { cookie: visitor.cookie })).status).toBe(200);
  const done = await runCliAtTerminal(app.databaseUrl, ['database:restored'], 'yes');
  expect(done.out).toContain(`In the database ${name} nothing from before now can be used`);
  expect((await app.send('/profile', { cookie: visitor.cookie })).status).toBe(303);
});

it('what is changed at that moment is on one side of the gap, whole', async () => {
  const visitors = await Promise.all(Array.from({ length: 4 }, () => addVisitor(app, 'marketplace')));
  const before = (await pull(app, 'marketplace', `?after=${await oldestOf('marketplace')}`)).latest;
  let isOver = false;
  const busy = Array.from({ length: 16 }, async (_, n) => {
    for (let edit = 0; !isOver; edit++) {
      const { id } = visitors[n % 4] ?? { id: '' };
      await sql`update users set name = ${`Edit ${n} ${edit}`} where id = ${id}`.execute(app.db);
      await askForEvents(app, 'marketplace', `?after=${before}&limit=1000`);
    }
  });
  // The trigger holds the restart up after it has deleted events, so that more events arrive before it chooses the next number.
  await sql`create function take_time() returns trigger language plpgsql as
    ${sql.lit('begin perform pg_sleep(0.5); return null; end')}`.execute(app.db);
  await sql`create trigger take_time after delete on events for each statement execute function take_time()`.execute(
    app.db,
  );
  await inTransaction(app.db, { by: 'operator' }, restartEvents);
  await new Promise((done) => setTimeout(done, 300));
  isOver = true;
  await Promise.all(busy);
  const oldest = (await oldestOf('marketplace')) + 1;
  expect(oldest).toBeGreaterThan(before + gap);
  const told = await readOn(app, 'marketplace', oldest - 1);
  expect(told.length).toBeGreaterThan(0);
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from events
    where client = 'marketplace'`.execute(app.db);
  expect(rows).toEqual([{ n: told.length }]);
});

it('where the command is interrupted nothing was done, each statement is short, and asked again it is right (contract 9.110)', async () => {
  const visitor = await addVisitor(app, 'marketplace');
  await sql`with account as (insert into accounts (id, name) select md5('a' || n)::uuid, 'A' from generate_series(1, 2500) n returning id)
    insert into users (id, account_id, email, holds_email, name)
      select id, id, id || '@example.test', true, 'B' from account`.execute(app.db);
  await sql`create table touched (rows integer)`.execute(app.db);
  await sql`create function count_touched() returns trigger language plpgsql as
    ${sql.lit('begin insert into touched select count(*) from new_rows; return null; end')}`.execute(app.db);
  await sql`create trigger count_touched after update on users referencing new table as new_rows
    for each statement execute function count_touched()`.execute(app.db);
  const findState = async () => {
    const { rows } = await sql`select (select count(*)::int from restores) as restores,
      (select count(*)::int from sessions where ended_at is null) as live,
      (select max(profile_updated_at) from users) as newest`.execute(app.db);
    return rows[0];
  };
  const before = await findState();
  await app.db.transaction().execute(async (trx) => {
    const largest = sql`(select id from users order by id desc limit 1)`;
    await sql`select from users where id = ${largest} for update`.execute(trx);
    const command = runCli(app.databaseUrl, ['database:restored']);
    const ours = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    // Uses another connection, because a transaction always sees `pg_stat_activity` as it was at its first read.
    const ended = async () => {
      const { rows } = await sql<{
        n: number;
      }>`select count(pg_terminate_backend(pid))::int as n from pg_stat_activity
        where ${ours.rows[0]?.pid}::int = any(pg_blocking_pids(pid))`.execute(app.db);
      return rows[0]?.n;
    };
    await expect.poll(ended, { timeout: 20_000, interval: 50 }).toBe(1);
    expect((await command).code).not.toBe(0);
  });
  expect(await findState()).toEqual(before);
  expect((await runCli(app.databaseUrl, ['database:restored'])).code).toBe(0);
  expect(await findState()).toMatchObject({ live: 0 });
  expect((await askForEvents(app, 'marketplace', '?after=1')).status).toBe(410);
  const { rows } = await sql<{ most: number; all: number }>`
    select max(rows) as most, sum(rows)::int as all from touched`.execute(app.db);
  expect(rows[0]?.most).toBeLessThanOrEqual(1_000);
  expect(rows[0]?.all).toBeGreaterThan(2_500);
  const { newest } = (await findState()) as { newest: Date };
  expect(newest.toISOString() > (visitor.payloads[0]?.profile.profile_updated_at ?? '')).toBe(true);
});

/** Returns the `after` with which a client has to begin. */
const oldestOf = async (client: string) => (await expectGone(client, 0)) - 1;

it('numbers are exact after ten thousand restores', async () => {
  await sql`insert into restores (at) select 'epoch'::timestamptz + n * interval '1 second'
    from generate_series(1, 10000) n`.execute(app.db);
  const before = (await pull(app, 'crm_app', `?after=${(await expectGone('crm_app', 0)) - 1}`)).latest;
  expect(Number.isSafeInteger(before + gap)).toBe(true);
  const visitor = await addVisitor(app, 'crm_app');
  expect(await pull(app, 'crm_app', `?after=${before}`)).toMatchObject({
    latest: before + 1,
    events: [{ seq: before + 1, user_id: visitor.id }],
  });
});

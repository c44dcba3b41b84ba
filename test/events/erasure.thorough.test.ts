// Contract 10.11 and 10.13: clients are told to forget a person, and the service keeps nothing of what it told about that
// person before.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import {
  addVisitor,
  deletePerson,
  latestOf,
  launch,
  openSession,
  pull,
  readOn,
} from '../support/events/events.ts';
import { makeDue, runErasure } from '../support/people/leaving.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

type Visitor = Awaited<ReturnType<typeof addVisitor>>;

describe('somebody who is deleted', () => {
  it.each<[door: string, remove: (visitor: Visitor) => Promise<unknown>]>([
    ['SQL', (visitor) => deletePerson(app.db, visitor)],
    [
      'the job',
      async ({ email }) => {
        await makeDue(app.db, email);
        await runErasure(app.db);
      },
    ],
    [
      'the command line',
      async ({ email }) =>
        expect(await runCli(app.databaseUrl, ['user:delete', email, '--now', '--yes'])).toMatchObject({
          code: 0,
        }),
    ],
  ])(
    'by %s is announced after the end of their sessions, and erased from earlier events',
    async (_, remove) => {
      const before = await latestOf(app, 'marketplace');
      const visitor = await addVisitor(app, 'marketplace', 'network_site');
      const stranger = await addVisitor(app, 'marketplace');
      await sql`update users set name = 'Another name' where id = ${visitor.id}`.execute(app.db);
      // This read gives the events so far their numbers. The event of the next change has no number yet when the person is
      // removed.
      expect(await readOn(app, 'marketplace', before)).toHaveLength(3);
      await sql`update users set name = 'A third name' where id = ${visitor.id}`.execute(app.db);
      await remove(visitor);
      const { id } = visitor;
      const [told, toldToSite] = [
        await readOn(app, 'marketplace', before),
        await readOn(app, 'network_site'),
      ];
      expect(told).toEqual([
        { seq: before + 1, type: 'erased' },
        expect.objectContaining({ type: 'profile.updated', user_id: stranger.id }),
        { seq: before + 3, type: 'erased' },
        { seq: before + 4, type: 'erased' },
        expect.objectContaining({ type: 'session.ended', user_id: id, sid: visitor.payloads[0]?.sid }),
        { seq: before + 6, type: 'user.deleted', occurred_at: expect.any(String), user_id: id },
      ]);
      expect(toldToSite.at(-1)).toMatchObject({ type: 'user.deleted', user_id: id });
      const { rows } = await sql`select from client_users where user_id = ${id}`.execute(app.db);
      expect(rows).toEqual([]);
    },
  );

  it('with a contract leaves it to the CRM, canceled, under the ids alone', async () => {
    const before = await latestOf(app, 'crm_app');
    const { text } = await sendSignup(app, buildSignup('crm_leaves'));
    const { user, contract } = JSON.parse(text);
    await makeDue(app.db, 'crm_leaves@example.test');
    await runErasure(app.db);
    const told = await readOn(app, 'crm_app', before);
    // The person was never handed to the CRM app, so it is told only about the contract.
    expect(told).toEqual([
      { seq: before + 1, type: 'erased' },
      {
        seq: before + 2,
        type: 'contract.updated',
        occurred_at: expect.any(String),
        user_id: user.id,
        signup_id: 'crm_leaves',
        contract: expect.objectContaining({ id: contract.id, user_id: user.id, status: 'canceled' }),
      },
    ]);
    const { rows } = await sql<{ body: object }>`select body from events
      where user_id = ${user.id}`.execute(app.db);
    expect(JSON.stringify(rows)).not.toMatch(/email|name/);
  });
});

it('each is told exactly once, when 16 delete, log out, edit and launch at once', async () => {
  for (let round = 0; round < 4; round++) {
    const before = await latestOf(app, 'marketplace');
    const visitor = await addVisitor(app, 'marketplace');
    const cookies = await Promise.all(Array.from({ length: 4 }, () => openSession(app.db, visitor)));
    await Promise.all([
      ...cookies.flatMap((cookie) => [
        launch(app, 'marketplace', cookie).catch(() => undefined),
        app.send('/logout', { method: 'POST', cookie }),
        app.send('/trpc/profile.update', { json: { json: { name: 'Quick' } }, cookie }),
      ]),
      ...Array.from({ length: 4 }, () => deletePerson(app.db, visitor)),
    ]);
    await deletePerson(app.db, visitor);
    const told = await readOn(app, 'marketplace', before);
    expect(told.at(-1)).toMatchObject({ type: 'user.deleted', user_id: visitor.id });
    expect(told.filter(({ type }) => type === 'user.deleted')).toHaveLength(1);
    const ended = told.filter(({ type }) => type === 'session.ended').map(({ sid }) => sid);
    expect(new Set(ended).size).toBe(ended.length);
    // Earlier events that remain say nothing about the person.
    for (const event of told)
      if (event.type !== 'erased') expect(['session.ended', 'user.deleted']).toContain(event.type);
  }
});

it('an erasure under way holds up nobody, and what it erases comes when it is done', async () => {
  const visitor = await addVisitor(app, 'marketplace');
  const stranger = await addVisitor(app, 'network_site', 'marketplace');
  const before = await latestOf(app, 'marketplace');
  await sql`update users set name = 'Before the end' where id = ${visitor.id}`.execute(app.db);
  await app.db.transaction().execute(async (trx) => {
    await sql`delete from users where id = ${visitor.id}`.execute(trx);
    await sql`update users set name = 'Meanwhile' where id = ${stranger.id}`.execute(app.db);
    expect(await pull(app, 'marketplace', `?after=${before}`)).toMatchObject({
      latest: before + 1,
      events: [{ user_id: stranger.id }],
    });
  });
  expect(await readOn(app, 'marketplace', before + 1)).toMatchObject([
    { type: 'erased' },
    { type: 'session.ended', user_id: visitor.id },
    { type: 'user.deleted', user_id: visitor.id },
  ]);
});

it('erases what a transaction said of somebody before it deleted them', async () => {
  const { id, accountId } = await addVisitor(app, 'marketplace');
  const before = await latestOf(app, 'marketplace');
  await app.db.transaction().execute(async (trx) => {
    await sql`update users set name = 'Last name' where id = ${id}`.execute(trx);
    await sql`delete from users where id = ${id}`.execute(trx);
    await sql`delete from accounts where id = ${accountId}`.execute(trx);
  });
  const told = await readOn(app, 'marketplace', before);
  expect(JSON.stringify(told)).not.toContain('Last name');
  expect(told.at(-1)).toMatchObject({ type: 'user.deleted', user_id: id });
});

it('erases somebody even after very many events and changes', async () => {
  const visitor = await addVisitor(app, 'marketplace');
  await sql`insert into events (client, type, user_id, body)
    select 'marketplace', 'profile.updated', ${visitor.id}, '{"name": "Often"}' from generate_series(1, 12000)`.execute(
    app.db,
  );
  await sql`insert into changes (at, subject, row_id, user_id, kind, members, by, role)
    select clock_timestamp() + n * interval '1 microsecond', 'user', ${visitor.id}, ${visitor.id}, 'changed',
      '{"name": {"from": "Often", "to": "Often"}}', 'person', 'someone' from generate_series(1, 12000) n`.execute(
    app.db,
  );
  await makeDue(app.db, visitor.email);
  // One statement for all these rows would take too long, so the service updates them in parts. This function records the size
  // of each part.
  await sql`create function note_erasing() returns trigger language plpgsql as
    ${sql.lit('begin insert into erasing select tg_table_name, count(*) from gone; return null; end')}`.execute(
    app.db,
  );
  await sql`create table erasing (what text, rows bigint)`.execute(app.db);
  for (const table of ['events', 'changes'])
    await sql`create trigger note_erasing after update on ${sql.table(table)} referencing old table as gone
      for each statement execute function note_erasing()`.execute(app.db);
  await runErasure(app.db);
  const { rows } = await sql<{ what: string; most: number; all: number }>`
    select what, max(rows)::int as most, sum(rows)::int as all from erasing group by what`.execute(app.db);
  await sql`drop function note_erasing cascade`.execute(app.db);
  await sql`drop table erasing`.execute(app.db);
  for (const what of ['events', 'changes']) {
    const row = rows.find((each) => each.what === what);
    expect(row?.all).toBeGreaterThanOrEqual(12_000);
    expect(row?.most).toBeLessThanOrEqual(5_000);
  }
  const left = await sql`select 1 from events where user_id = ${visitor.id} and type = 'profile.updated'
    union all select 1 from changes where user_id = ${visitor.id} and members is not null`.execute(app.db);
  expect(left.rows).toEqual([]);
});

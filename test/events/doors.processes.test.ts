// Contract 10.8 to 10.13: each change, however it is made, is one event to the clients who know the person, and to nobody else.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import { openOtherRole } from '../support/database/database-role.ts';
import {
  addPerson,
  addVisitor,
  latestOf,
  launch,
  openSession,
  readOn,
  type WireEvent,
} from '../support/events/events.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const password = 'local demo password';
const app = shared(openApp);

type Visitor = Awaited<ReturnType<typeof addVisitor>>;

const summary = ({ type, user_id, sid }: WireEvent) => ({ type, user_id, ...(sid && { sid }) });

/**
 * Returns what `marketplace`, which knows the person, was told during `work`. The other clients must have been told nothing.
 */
async function during(work: () => Promise<unknown>) {
  const clients = ['marketplace', 'network_site', 'crm_app'] as const;
  const before = await Promise.all(clients.map((client) => latestOf(app, client)));
  await work();
  const [marketplace = [], ...others] = await Promise.all(
    clients.map((client, n) => readOn(app, client, before[n])),
  );
  expect(others).toEqual([[], []]);
  return marketplace;
}

const post = async (path: string, form: Record<string, string>, cookie: string) =>
  expect((await app.send(path, { form, cookie })).status).toBe(303);
const call = async (procedure: string, input: object, cookie: string) =>
  expect((await app.send(`/trpc/${procedure}`, { json: { json: input }, cookie })).status).toBe(200);
const bySql = (statement: ReturnType<typeof sql>) => statement.execute(app.db);

describe('somebody with a role of their own in the database', () => {
  it('changes a person without the right to write events, and cannot have them go to a table of its own', async () => {
    const visitor = await addVisitor(app, 'marketplace');
    const other = await openOtherRole(app.db, app.databaseUrl);
    const heard = await during(async () => {
      await sql`create temp table events (like events)`.execute(other.db);
      await sql`create temp table client_users (like client_users)`.execute(other.db);
      await sql`update users set name = 'Seen' where id = ${visitor.id}`.execute(other.db);
      await expect(
        sql`insert into public.events (client, type) values ('x', 'erased')`.execute(other.db),
      ).rejects.toThrow(/permission denied/);
    }).finally(other.close);
    expect(heard).toMatchObject([{ type: 'profile.updated', profile: { name: 'Seen' } }]);
  });
});

describe('the first launch to a client', () => {
  it('appends the profile that it hands over, once', async () => {
    const person = await addPerson(app.db);
    const cookie = await openSession(app.db, person);
    const heard = await during(async () => {
      await launch(app, 'marketplace', cookie);
      await launch(app, 'marketplace', cookie);
      await launch(app, 'marketplace', await openSession(app.db, person));
    });
    const { profile } = await launch(app, 'marketplace', cookie);
    expect(heard).toEqual([
      {
        seq: expect.any(Number),
        type: 'profile.updated',
        occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        user_id: person.id,
        profile,
      },
    ]);
    expect(Math.abs(Date.parse(heard[0]?.occurred_at ?? '') - Date.now())).toBeLessThan(30_000);
  });

  it('goes to that client alone, and changes before it to nobody', async () => {
    const person = await addPerson(app.db);
    expect(
      await during(async () => {
        await bySql(sql`update users set name = 'Unknown so far' where id = ${person.id}`);
        await launch(app, 'marketplace', await openSession(app.db, person));
      }),
    ).toMatchObject([{ user_id: person.id, profile: { name: 'Unknown so far' } }]);
  });
});

const profileDoors: [door: string, change: (visitor: Visitor) => Promise<unknown>, expected: object][] = [
  [
    'the page',
    ({ cookie }) => post('/profile', { intent: 'names', name: 'By page', accountName: 'By page' }, cookie),
    { name: 'By page' },
  ],
  ['tRPC', ({ cookie }) => call('profile.update', { name: 'By tRPC' }, cookie), { name: 'By tRPC' }],
  [
    'tRPC, of the account alone',
    ({ cookie }) => call('profile.update', { accountName: 'Not in the profile' }, cookie),
    {},
  ],
  [
    'a hand-off from the marketplace',
    async ({ email, id }) => {
      await bySql(sql`insert into external_links (provider, external_id, user_id)
        values ('marketplace', ${`m-${id}`}, ${id})`);
      const user = { id: `m-${id}`, email, name: 'By hand-off', capabilities: ['sell_services'] };
      await openHandOff(app, await buildHandOff(app, user));
    },
    { name: 'By hand-off', role: 'merchant', account: { capabilities: ['sell_services'] } },
  ],
  [
    'SQL on the user',
    ({ id }) => bySql(sql`update users set name = 'By SQL', role = 'manager' where id = ${id}`),
    { name: 'By SQL', role: 'admin' },
  ],
  [
    'SQL on the account',
    ({ accountId }) =>
      bySql(sql`update accounts set capabilities = '{sell_services,sell_products}' where id = ${accountId}`),
    { role: 'merchant', account: { capabilities: ['sell_services'] } },
  ],
  [
    'SQL in several statements of one transaction',
    ({ id, accountId }) =>
      app.db.transaction().execute(async (trx) => {
        await sql`update users set name = 'On the way' where id = ${id}`.execute(trx);
        await sql`update accounts set capabilities = '{sell_products}' where id = ${accountId}`.execute(trx);
        await sql`update accounts set verified_at = now() where id = ${accountId}`.execute(trx);
        await sql`update users set name = 'In the end' where id = ${id}`.execute(trx);
      }),
    { name: 'In the end', account: { capabilities: ['sell_products'] } },
  ],
];

describe('a change of the profile', () => {
  it.each(profileDoors)('by %s is one event, with what the profile is then', async (_, change, expected) => {
    const visitor = await addVisitor(app, 'marketplace');
    const heard = await during(() => change(visitor));
    const cookie = await openSession(app.db, visitor);
    const profile = JSON.parse((await app.send('/sso/profile', { cookie })).text);
    expect(profile).toMatchObject(expected);
    expect(heard).toEqual([
      expect.objectContaining({ type: 'profile.updated', user_id: visitor.id, profile }),
    ]);
  });

  it('reaches everybody of an account', async () => {
    const [one, other] = [await addVisitor(app, 'marketplace'), await addVisitor(app, 'marketplace')];
    await bySql(sql`update users set account_id = ${one.accountId} where id = ${other.id}`);
    const heard = await during(() =>
      bySql(sql`update accounts set capabilities = '{sell_services}' where id = ${one.accountId}`),
    );
    expect(heard.map(({ user_id }) => user_id).sort()).toEqual([one.id, other.id].sort());
  });

  it.each<[what: string, work: (visitor: Visitor) => Promise<unknown>]>([
    [
      'an edit of the page that finds all as it asks for',
      async ({ cookie, id }) => {
        const { rows } = await sql<{ name: string; account: string }>`select u.name, a.name as account
          from users u join accounts a on a.id = u.account_id where u.id = ${id}`.execute(app.db);
        const [{ name = '', account = '' } = {}] = rows;
        await post('/profile', { intent: 'names', name, accountName: account }, cookie);
      },
    ],
    ['SQL that sets what is there', ({ id }) => bySql(sql`update users set name = name where id = ${id}`)],
    [
      'what no client sees',
      ({ id }) => bySql(sql`update users set deletion_due_at = now() + interval '1 day' where id = ${id}`),
    ],
    [
      'what is rolled back',
      ({ id }) =>
        app.db
          .transaction()
          .execute(async (trx) => {
            await sql`update users set name = 'Never' where id = ${id}`.execute(trx);
            await sql`update sessions set ended_at = now() where user_id = ${id}`.execute(trx);
            throw new Error('no');
          })
          .catch(() => undefined),
    ],
    [
      'what is rolled back to a savepoint',
      ({ id }) =>
        app.db.transaction().execute(async (trx) => {
          await sql`savepoint here`.execute(trx);
          await sql`update users set name = 'Never' where id = ${id}`.execute(trx);
          await sql`rollback to here`.execute(trx);
        }),
    ],
    [
      'a session that expires',
      ({ id }) => bySql(sql`update sessions set last_seen_at = 'epoch' where user_id = ${id}`),
    ],
    [
      'a session that is swept',
      async ({ id }) => {
        await bySql(sql`update sessions set created_at = now() - interval '31 days' where user_id = ${id}`);
        await bySql(sql`delete from sessions where user_id = ${id}`);
      },
    ],
  ])('no event comes from %s', async (_, work) => {
    const visitor = await addVisitor(app, 'marketplace');
    expect(await during(() => work(visitor))).toEqual([]);
  });
});

describe('the end of a session', () => {
  it.each<[door: string, end: (visitor: Visitor) => Promise<unknown>]>([
    ['logout', ({ cookie }) => post('/logout', {}, cookie)],
    ['SQL', ({ id }) => bySql(sql`update sessions set ended_at = now() where user_id = ${id}`)],
    ['SQL that deletes it', ({ id }) => bySql(sql`delete from sessions where user_id = ${id}`)],
    [
      'an end elsewhere',
      async (visitor) => {
        const other = await openSession(app.db, visitor);
        await call('sessions.endOthers', {}, other);
      },
    ],
    [
      'a login as somebody else in that browser',
      async ({ cookie }) => {
        const browser = openBrowser(app.send, cookie);
        expect((await browser.login('customer@example.test')).status).toBe(303);
      },
    ],
  ])('by %s is one event, with the sid of that client', async (_, end) => {
    const visitor = await addVisitor(app, 'marketplace');
    const sid = visitor.payloads[0]?.sid;
    const heard = await during(async () => {
      await end(visitor);
      // Ending the session a second time makes no event.
      await bySql(sql`update sessions set ended_at = now() where user_id = ${visitor.id}`);
    });
    expect(heard.map(summary)).toEqual([{ type: 'session.ended', user_id: visitor.id, sid }]);
  });

  it('tells each client its own sid, and only clients that were handed that login', async () => {
    const visitor = await addVisitor(app, 'marketplace', 'network_site');
    await openSession(app.db, visitor);
    const [market = 0, site = 0] = await Promise.all(
      ['marketplace', 'network_site'].map((client) => latestOf(app, client)),
    );
    await bySql(sql`update sessions set ended_at = now() where user_id = ${visitor.id}`);
    expect((await readOn(app, 'marketplace', market)).map(({ sid }) => sid)).toEqual([
      visitor.payloads[0]?.sid,
    ]);
    expect((await readOn(app, 'network_site', site)).map(({ sid }) => sid)).toEqual([
      visitor.payloads[1]?.sid,
    ]);
    expect(visitor.payloads[0]?.sid).not.toBe(visitor.payloads[1]?.sid);
  });

  it('by a change of password leaves the session that changed it, with its sid', async () => {
    const [own, other] = [openBrowser(app.send), openBrowser(app.send)];
    for (const browser of [own, other])
      expect((await browser.login('merchant@example.test')).status).toBe(303);
    const kept = await launch(app, 'marketplace', own.cookie());
    const ended = await launch(app, 'marketplace', other.cookie());
    const form = { intent: 'password', currentPassword: password, newPassword: 'seven quiet lanterns' };
    const heard = await during(async () => {
      expect((await own.send('/profile/security', { form })).status).toBe(303);
    });
    expect(heard.map(summary)).toEqual([
      { type: 'session.ended', user_id: ended.profile.id, sid: ended.sid },
    ]);
    expect((await launch(app, 'marketplace', own.cookie())).sid).toBe(kept.sid);
  });

  it('by the limit of sessions', async () => {
    const id = await idOf(app.db, 'new-merchant@example.test');
    const { sid } = await launch(app, 'marketplace', await openSession(app.db, { id }));
    for (let n = 0; n < 49; n++) await openSession(app.db, { id });
    const heard = await during(() => app.login('new-merchant@example.test'));
    expect(heard.map(summary)).toEqual([{ type: 'session.ended', user_id: id, sid }]);
  });
});

describe('a suspension', () => {
  const setBySql = (at: ReturnType<typeof sql>) => (email: string) =>
    bySql(sql`update users set suspended_at = ${at} where email = ${email}`);
  const setByCli = (command: string) => async (email: string) =>
    expect(await runCli(app.databaseUrl, [command, email])).toMatchObject({ code: 0 });

  it.each([
    ['SQL', setBySql(sql`now()`), setBySql(sql`null`)],
    ['the command line', setByCli('user:suspend'), setByCli('user:resume')],
  ])('by %s is told after the end of the sessions, and lifted once', async (_, suspend, resume) => {
    const visitor = await addVisitor(app, 'marketplace');
    const { id, email } = visitor;
    const heard = await during(async () => {
      await suspend(email);
      await bySql(sql`update users set suspended_at = now() where id = ${id}`);
      await resume(email);
    });
    expect(heard.map(summary)).toEqual([
      { type: 'session.ended', user_id: id, sid: visitor.payloads[0]?.sid },
      { type: 'user.suspended', user_id: id },
      { type: 'user.restored', user_id: id },
    ]);
  });
});

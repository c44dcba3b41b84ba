// `history`: what changed about somebody, or who they were at an instant.
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { digestRows, idOf } from '../support/database/database.ts';
import { listChanges } from '../support/history/history.ts';
import { makeDue, runErasure } from '../support/people/leaving.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';

let userId: string;
const app = shared(openApp);
beforeAll(async () => {
  userId = await idOf(app.db, email);
});

const history = async (...args: string[]) => {
  const outcome = await runCli(app.databaseUrl, ['history', ...args]);
  expect(outcome).toMatchObject({ code: 0, err: '' });
  return outcome.out;
};
const historyOf = async (...args: string[]) =>
  (await history(...args, '--json'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

it('prints what changed, by whom and why, newest last', async () => {
  const cookie = await app.login(email);
  const answer = await app.send('/trpc/profile.update', { cookie, json: { json: { name: 'Maya Newer' } } });
  expect(await runCli(app.databaseUrl, ['user:suspend', email])).toMatchObject({ code: 0 });
  expect(await runCli(app.databaseUrl, ['user:resume', email])).toMatchObject({ code: 0 });
  const lines = (await history(email)).trim().split('\n');
  expect(lines[0]).toMatch(
    /^20[\d-]+T[\d:.]{15}Z {2}account \S+ created by the service \(cause "demo users", role "/,
  );
  expect(lines[1]).toContain(`user ${userId} created by the service`);
  expect(lines[2]).toContain(
    `user ${userId} changed by the person (user ${userId}, request "${answer.headers.get('x-request-id')}"`,
  );
  expect(lines[2]).toContain('name "Maya Merchant" → "Maya Newer"');
  expect(lines[3]).toMatch(
    /changed by an operator \(cause "user:suspend", role "\w+"\): suspended_at none → "20/,
  );
  expect(lines).toHaveLength(5);
  const changes = await historyOf(userId);
  expect(changes).toHaveLength(5);
  expect(changes[2]).toMatchObject({
    subject: 'user',
    rowId: userId,
    by: 'person',
    members: { name: { from: 'Maya Merchant', to: 'Maya Newer' } },
  });
});

it('prints the profile as it was at an instant, from the history and not from the row', async () => {
  const at = (await listChanges(app.db))
    .filter((change) => change.userId === userId)
    .map((change) => change.at);
  const before = { name: 'Maya Merchant', email, role: 'merchant' };
  expect(await historyOf(email, '--at', at[0] ?? '')).toMatchObject([
    {
      profile: {
        ...before,
        id: userId,
        account: { capabilities: ['manage_storefront', 'sell_products', 'sell_services'] },
      },
      account: { name: 'Maya’s account' },
      suspended_at: null,
    },
  ]);
  expect(await historyOf(email, '--at', at[1] ?? '')).toMatchObject([{ profile: { name: 'Maya Newer' } }]);
  const [suspended] = await historyOf(email, '--at', at[2] ?? '');
  expect(suspended.suspended_at).not.toBeNull();
  // A row can differ from its history only if a change was made while the trigger was off.
  await sql`alter table users disable trigger users_record_update`.execute(app.db);
  await sql`update users set name = 'Unseen' where id = ${userId}`.execute(app.db);
  await sql`alter table users enable trigger users_record_update`.execute(app.db);
  const text = await history(email, '--at', '2099-12-31T23:00:00+01:00');
  expect(text).toMatch(/^at: "2099-12-31T22:00:00\.000000Z"\n/);
  expect(text).toContain('\nname: "Maya Newer"\n');
  expect(text).toContain('\naccount name: "Maya’s account"\n');
});

it('says what a capability is worth only once the account was verified', async () => {
  const [then] = await historyOf('new-merchant@example.test', '--at', new Date().toISOString());
  expect(then).toMatchObject({
    profile: { role: 'merchant', account: { capabilities: [] } },
    account: { capabilities: ['sell_products'], verified_at: null },
  });
});

it('takes people who were here before the history began in their present state', async () => {
  await sql`delete from changes where user_id = (select id from users where email = 'customer@example.test')`.execute(
    app.db,
  );
  await sql`delete from changes where row_id = (select account_id::text from users where email = 'customer@example.test')`.execute(
    app.db,
  );
  expect(await history('customer@example.test')).toBe('Nothing has changed since the history began.\n');
  const [then] = await historyOf('customer@example.test', '--at', new Date().toISOString());
  expect(then).toMatchObject({ profile: { name: 'Casey Customer' }, account: { name: 'Casey’s account' } });
  const long = await runCli(app.databaseUrl, [
    'history',
    'customer@example.test',
    '--at',
    '2001-01-01T00:00:00Z',
  ]);
  expectRefused(long, /^We know nothing about this user at that time\.\n$/);
});

it('prints only that something happened to somebody who is erased, by their id', async () => {
  const target = 'unverified@example.test';
  const id = await idOf(app.db, target);
  const then = new Date().toISOString();
  await makeDue(app.db, target);
  await runErasure(app.db);
  const text = await history(id);
  expect(text).toMatch(
    /user \S+ removed by the service \(cause "erasure", role "\w+"\): what it was is erased/,
  );
  expect(text).not.toMatch(/Uma|unverified@/);
  expectRefused(
    await runCli(app.databaseUrl, ['history', target]),
    /^No user has this email address or id\.\n$/,
  );
  expectRefused(
    await runCli(app.databaseUrl, ['history', id, '--at', then]),
    /^We know nothing about this user at that time\.\n$/,
  );
});

it('prints nothing that moves the cursor of a terminal', async () => {
  await sql`update accounts set name = ${'Shop\u001b[2J\u009b1m\u202egnp'} where id =
    (select account_id from users where email = 'admin@example.test')`.execute(app.db);
  const text = await history('admin@example.test');
  expect(text).toContain('→ "Shop\\u001b[2J\\u{9b}1m\\u{202e}gnp"');
});

it('refuses somebody whom nobody knows, and a time that is none; and changes nothing', async () => {
  const tables = ['users', 'accounts', 'changes', 'audit_events'];
  const before = await digestRows(app.db, tables);
  for (const key of ['nobody@example.test', '0190f5a0-0000-7000-8000-000000000000'])
    expectRefused(
      await runCli(app.databaseUrl, ['history', key]),
      /^No user has this email address or id\.\n$/,
    );
  expectMisused(
    await runCli(app.databaseUrl, ['history', 'nobody']),
    /Enter a valid email address, or the id/,
  );
  for (const time of ['yesterday', '2026-01-01T00:00:00'])
    expectMisused(await runCli(app.databaseUrl, ['history', email, '--at', time]), /Enter an RFC 3339 time/);
  expect(await digestRows(app.db, tables)).toBe(before);
});

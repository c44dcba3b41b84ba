// user:delete of the command line (contract 12.38).
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, runCli } from '../support/app/cli.ts';
import { run } from '../support/app/process.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { digestRows, whileInsertsFail } from '../support/database/database.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { eventsOf, findText } from '../support/people/leaving.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const remove = (...args: string[]) => runCli(app.databaseUrl, ['user:delete', ...args]);

async function sign(signupId: string): Promise<{ id: string; email: string }> {
  const signup = buildSignup(signupId);
  const answer = await sendSignup(app, signup);
  const { user, contract } = JSON.parse(answer.text);
  await sql`insert into invoices (number, contract_id, plan, period_starts_at, period_ends_at, currency, unit_amount,
      status, issued_at, due_at)
    select coalesce(max(number), 0) + 1, ${contract.id}, 'x', now(), now() + interval '1 day', 'EUR', 1, 'open', now(),
      now() from invoices`.execute(app.db);
  return { id: user.id, email: signup.user.email };
}

it('plans the deletion in 14 days, and says when and what ends then', async () => {
  const { id, email } = await sign('crm_plan');
  const before = Date.now();
  const { code, out, err } = await remove(email.toUpperCase());
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [, at = ''] = /^The user [0-9a-f-]{36} will be erased at (\S+Z)\. /.exec(out) ?? [];
  expect(out).toContain(
    'Contracts to be canceled then: 1.\nInvoices, which are kept: 1, of which open: 1.\n',
  );
  const days = (Date.parse(at) - before) / 86_400_000;
  expect(days).toBeGreaterThanOrEqual(14);
  expect(days).toBeLessThan(14.01);
  expect(await listNotices(app.db, email)).toEqual(['deletion_requested']);
  expect((await eventsOf(app.db, id)).slice(-2)).toMatchObject([
    { type: 'user.deletion_requested', details: { by: 'cli' } },
    { type: 'staff.plan_deletion', details: { by: 'cli' } },
  ]);
  expect((await remove(id)).out).toBe(out);
  expect(await listNotices(app.db, email)).toEqual(['deletion_requested']);
});

it('erases at once with --now, once of four at once, and says what was erased', async () => {
  const { id, email } = await sign('crm_now');
  const why = ['--why', 'Erase User crm_now'];
  const outcomes = await Promise.all(
    [email, id, email, id].map((key) => remove(key, '--now', '--yes', '--by', 'Olga', ...why)),
  );
  const [done, ...more] = outcomes.filter(({ code }) => code === 0);
  expect(more).toEqual([]);
  expect(done?.out).toBe(
    `The user ${id} is erased. Contracts canceled: 1.\nInvoices, which are kept: 1, of which open: 1.\n`,
  );
  for (const outcome of outcomes.filter(({ code }) => code !== 0))
    expectRefused(outcome, /^No user has this email address or id\.\n$/);
  expect(await findText(app.db, 'User crm_now')).toEqual([]);
  const events = await eventsOf(app.db, id);
  expect(events.filter(({ type }) => type === 'user.erased')).toMatchObject([{ details: { by: 'cli' } }]);
  // The reason may name the person, as it does here. So it is not kept, and `findText` finds the name nowhere.
  expect(events.filter(({ type }) => type === 'staff.erase')).toMatchObject([
    { details: { operator: 'Olga' } },
  ]);
});

it('leaves them as they were where it is killed half way, and erases them the next time', async () => {
  const { id, email } = await sign('crm_killed');
  const tables = ['users', 'accounts', 'service_contracts', 'invoices', 'audit_events', 'erased_users'];
  const before = await digestRows(app.db, tables);
  const body = `if tg_table_name = 'erased_users' then perform pg_sleep(1); end if`;
  await whileInsertsFail(app.db, 'erased_users', { body }, async () => {
    const killed = run('node', ['build/service/cli.js', 'user:delete', email, '--now', '--yes'], {
      DATABASE_URL: app.databaseUrl,
    });
    const sleeping = sql`select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    await vi.waitFor(async () => expect((await sleeping.execute(app.db)).rows).toHaveLength(1), 20_000);
    killed.child.kill('SIGKILL');
    expect(await killed.exited).toBeNull();
    await vi.waitFor(async () => expect((await sleeping.execute(app.db)).rows).toEqual([]), 20_000);
  });
  expect(await digestRows(app.db, tables)).toBe(before);
  expect(await listNotices(app.db, email)).toEqual([]);
  expect((await remove(email, '--now', '--yes')).code).toBe(0);
  expect((await eventsOf(app.db, id)).filter(({ type }) => type === 'user.erased')).toHaveLength(1);
});

it('erases somebody who is suspended only with --now, and says so', async () => {
  const { email } = await sign('crm_suspended');
  await runCli(app.databaseUrl, ['user:suspend', email]);
  const { code, out } = await remove(email);
  expect(code).toBe(0);
  expect(out).toContain('That will not happen while the user is suspended: resume them, or use --now.');
  expect((await remove(email, '--now', '--yes')).code).toBe(0);
  expect(await findText(app.db, 'User crm_suspended')).toEqual([]);
});

it.each(['nobody@example.test', '0190f5a0-0000-7000-8000-000000000000'])(
  'refuses %s, whom nobody knows',
  async (key) => {
    for (const args of [[], ['--now', '--yes']])
      expectRefused(await remove(key, ...args), /^No user has this email address or id\.\n$/);
  },
);

it('refuses what is neither an address nor an id', async () => {
  expectMisused(await remove('nobody'), /Enter a valid email address, or the id of a user/);
});

it.each([[[]], [['--now', '--yes']]])('refuses the last admin, with %j, and not one of two', async (args) => {
  const email = `boss${args.length}@example.test`;
  await sql`update users set role = 'user'`.execute(app.db);
  const { id } = await sign(`crm_boss${args.length}`);
  await sql`update users set role = 'admin', email = ${email} where id = ${id}`.execute(app.db);
  const tables = ['users', 'audit_events'];
  const before = await digestRows(app.db, tables);
  expectRefused(await remove(email, ...args), /^This is the only administrator\. Make someone else/);
  expect(await digestRows(app.db, tables)).toBe(before);
  const other = await sign(`crm_deputy${args.length}`);
  await sql`update users set role = 'admin' where id = ${other.id}`.execute(app.db);
  // The other administrator cannot log in, so this one is still the only one.
  expectRefused(await remove(email, ...args), /^This is the only administrator/);
  await sql`update users set email_verified_at = now(), password_hash = (
    select password_hash from users where email = 'customer@example.test') where id = ${other.id}`.execute(
    app.db,
  );
  expect((await remove(email, ...args)).code).toBe(0);
  expectRefused(await remove(other.id, ...args), /^This is the only administrator/);
});

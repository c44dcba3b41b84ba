// The command line (npm run cli), as an operator uses it, beside a service on the same database.
import { sql } from 'kysely';
import { describe, expect, inject, it, vi } from 'vitest';
import { migrations } from '../../db/migrations/list.ts';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, type Outcome, runCli } from '../support/app/cli.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import { cloneDatabase, connect, emptyDatabase } from '../support/database/postgres.ts';
import { listNotices } from '../support/people/kept-mail.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import { expectCodeAsked, setUp } from '../support/people/totp-app.ts';
import { shared } from '../support/run/shared.ts';

const migrationNames = Object.keys(migrations).sort();
const password = 'seven quiet lanterns';

const app = shared(openApp);

const cli = (args: string[], input?: string) => runCli(app.databaseUrl, args, input);

// Leaves out refused logins, because their events may come later than the answers.
const look = async () =>
  (
    await sql`select (select json_agg(u order by id) from users u) as users,
      (select json_agg(a order by id) from accounts a) as accounts,
      (select json_agg(type) from audit_events where type <> 'login.refused') as events`.execute(app.db)
  ).rows;

it('the command line lists its commands with --help', async () => {
  const { code, out, err } = await cli(['--help']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const commands =
    'migrate database:restored find user:show user:create user:suspend user:remove-factors user:resume user:role user:end-sessions user:send-mail user:change-email user:keep user:delete audit marketplace:link import signup:send contract:cancel reconcile';
  for (const command of `${commands} invoice:paid invoice:void mails clients`.split(' '))
    expect(out).toContain(command);
});

it('the command line refuses an unknown command and a missing option', async () => {
  const before = await look();
  const [command, option] = await Promise.all([
    cli(['user:destroy', 'admin@example.test']),
    cli(['user:create', '--email', 'x@example.test'], password),
  ]);
  expectMisused(command, /unknown command/);
  expectMisused(option, /--name/);
  expect(await look()).toEqual(before);
});

it('migrate migrates an empty database, even when it runs twice at once', async () => {
  const { url, drop } = await emptyDatabase(inject('templateUrl'));
  try {
    const outcomes = await Promise.all([runCli(url, ['migrate']), runCli(url, ['migrate'])]);
    for (const { code, err } of outcomes) {
      expect(code, err).toBe(0);
      // If the second command finds the first one at work, it says that it waits.
      expect(err).toMatch(/^(Waiting for another instance's migrations\.\n)?$/);
    }
    const { send } = await app.startInstance({ databaseUrl: url });
    expect((await send('/readyz')).status).toBe(200);
  } finally {
    await drop();
  }
});

describe('migrate --status (contract 11.44)', () => {
  /** Shows whether a table was added, removed or rewritten. */
  const look = async (url: string) => {
    const { db, close } = connect(url);
    const { rows } = await sql`select relname, relfilenode, (select count(*) from pg_class) as relations
      from pg_class where relnamespace = 'public'::regnamespace order by relname`.execute(db);
    await close();
    return rows;
  };

  it('lists what an empty database needs, does nothing, and exits with 1', async () => {
    const { url, drop } = await emptyDatabase(inject('templateUrl'));
    try {
      const before = await look(url);
      const { code, out, err } = await runCli(url, ['migrate', '--status']);
      expect([code, err]).toEqual([1, '']);
      expect(out).toBe(`To do:\n${migrationNames.map((name) => `  ${name}\n`).join('')}`);
      expect(await look(url)).toEqual(before);
    } finally {
      await drop();
    }
  });

  it('exits with 0 where there is nothing to do, also on a database that a newer version has migrated', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const { db, close } = connect(url);
    try {
      const nothing = 'Nothing to do: the database has what this version needs.\n';
      expect(await runCli(url, ['migrate', '--status'])).toEqual({ code: 0, out: nothing, err: '' });
      await sql`insert into kysely_migration values ('m998-phones', ''), ('m999-faxes', '')`.execute(db);
      const ahead = await runCli(url, ['migrate', '--status']);
      expect(ahead).toMatchObject({ code: 0, err: '' });
      expect(ahead.out).toBe(
        `${nothing}A newer version has migrated this database. This one starts on it, and leaves these alone:\n` +
          '  m998-phones\n  m999-faxes\n',
      );
      // Contract 11.110.
      const last = migrationNames.at(-1) ?? '';
      await sql`delete from kysely_migration where name = ${last}`.execute(db);
      const behind = await runCli(url, ['migrate', '--status']);
      expect([behind.code, behind.err]).toEqual([3, '']);
      expect(behind.out).toMatch(/^This version does not start on this database, [^\n]+\n$/);
      expect(behind.out).toContain(
        `it has m998-phones, m999-faxes, which this version does not know, and lacks ${last} `,
      );
      // Every command prints the same sentence, and nothing else (contract 9.352).
      const command = await runCli(url, ['mails']);
      expect(command).toEqual({ code: 1, out: '', err: behind.out });
    } finally {
      await close();
      await drop();
    }
  });

  it('exits with 2 where it cannot find out', async () => {
    const away = await runCli('postgres://nobody@127.0.0.1:1/none', ['migrate', '--status']);
    expect(away).toMatchObject({ code: 2, out: '' });
    expect(away.err).toMatch(/^Cannot reach the database/);
    const wrong = await runCli('mysql://nobody', ['migrate', '--status']);
    expect(wrong).toMatchObject({ code: 2, out: '' });
    expect(wrong.err).toContain('DATABASE_URL must be');
  });
});

describe('user:create', () => {
  const create = (email: string, { name = 'Nia', input = password, more = [] as string[] } = {}) =>
    cli(['user:create', '--email', email, '--name', name, ...more], input);

  it('creates a user with an account, who can log in and launch at once', async () => {
    const more = ['--account', 'Nia’s Shop', '--role', 'manager'];
    const made = await create('Nia@BÜCHER.example', { name: '  Nia  ', input: `${password}\n`, more });
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).not.toContain(password);
    const cookie = await app.login('nia@bücher.example', password);
    const { text } = await app.send('/sso/profile', { cookie });
    expect(JSON.parse(text)).toMatchObject({
      id: made.out.trim(),
      email: 'nia@xn--bcher-kva.example',
      name: 'Nia',
      role: 'admin',
      account: { capabilities: [] },
    });
    const launched = await app.send('/sso/launch/marketplace', { cookie });
    expect(launched.headers.get('location')).toContain('/demo/marketplace/callback?payload=');
    const { rows } = await sql`select a.name, e.type, e.details from audit_events e
      join users u on u.id = e.user_id join accounts a on a.id = u.account_id
      where e.user_id = ${made.out.trim()} and e.type like 'user.%'`.execute(app.db);
    expect(rows).toEqual([
      { name: 'Nia’s Shop', type: 'user.created', details: { role: 'manager', by: 'cli' } },
    ]);
  });

  it('refuses invalid input in one sentence, and creates nothing', async () => {
    const before = await look();
    expectMisused(await create('a@b@example.test'), /Enter a valid email address/);
    expectMisused(await create('x@example.test', { name: 'a\u202eb' }), /cannot be shown/);
    const refusals: [Promise<Outcome>, RegExp][] = [
      [create('a@127.0.0.1'), /an email address that mail can be sent to/],
      [create('x@example.test', { input: 'too short' }), /at least 12 characters/],
      [create('x@example.test', { input: 'password1234' }), /too easy to guess/],
      [create('ADMIN@example.test'), /already/],
    ];
    for (const [outcome, sentence] of refusals) {
      expectRefused(await outcome, sentence);
      expect((await outcome).err).not.toMatch(/too short|password1234/);
    }
    expect(await look()).toEqual(before);
  });
});

describe('user:suspend and user:resume', () => {
  const tryToLogIn = () =>
    app.send('/login', { form: { email: 'customer@example.test', password: 'local demo password' } });

  it('end the sessions of a user for good, and let the user log in again', async () => {
    const cookie = await app.login('customer@example.test');
    const other = await app.login('merchant@example.test');
    const suspended = await cli(['user:suspend', 'Customer@Example.test']);
    expect(suspended).toMatchObject({ code: 0, err: '', out: 'customer@example.test is suspended.\n' });
    expect((await app.send('/sso/profile', { cookie })).status).toBe(401);
    expect((await app.send('/sso/profile', { cookie: other })).status).toBe(200);
    expect((await tryToLogIn()).status).toBe(403);

    expect(await cli(['user:resume', 'customer@example.test'])).toMatchObject({ code: 0, err: '' });
    expect((await app.send('/sso/profile', { cookie })).status).toBe(401);
    expect((await tryToLogIn()).status).toBe(303);
    const { rows } = await sql<{ type: string }>`select type from audit_events
      where details ->> 'by' = 'cli' and type in ('user.suspended', 'user.resumed') order by id`.execute(
      app.db,
    );
    expect(rows.map(({ type }) => type)).toEqual(['user.suspended', 'user.resumed']);
  });

  it('refuse an unknown user', async () => {
    const before = await look();
    const outcome = await cli(['user:suspend', 'nobody@example.test']);
    expectRefused(outcome, /^No user has this email address or id\.\n$/);
    expect(await look()).toEqual(before);
  });
});

describe('user:remove-factors', () => {
  // Contract 9.83 and 12.26.
  it('removes the app and the recovery codes, logs the person out, and tells them', async () => {
    const email = 'merchant@example.test';
    const browser = await logIn(app.send, email);
    await setUp(browser, Date.now());
    const pending = openBrowser(app.send);
    expectCodeAsked(await pending.login(email));
    const removed = await cli(['user:remove-factors', 'Merchant@Example.test']);
    expect(removed).toMatchObject({ code: 0, err: '' });
    expect(await browser.whoAmI()).toBeUndefined();
    const { rows } = await sql`select (select count(*)::int from authenticators) as apps,
      (select count(*)::int from recovery_codes) as codes,
      (select count(*)::int from pending_logins) as pending,
      (select array_agg(type || ' ' || (details ->> 'by')) from audit_events where type = 'factors.removed') as events`.execute(
      app.db,
    );
    expect(rows).toEqual([{ apps: 0, codes: 0, pending: 0, events: ['factors.removed cli'] }]);
    expect((await listNotices(app.db, email)).at(-1)).toBe('factors_removed');
    // The old password does not work.
    await browser.login(email);
    expect(await browser.whoAmI()).toBeUndefined();
    const token = await vi.waitFor(async () => {
      const { rows } = await sql<{ text: string }>`select kept_text as text from mails
        where recipient = ${email} and kind = 'set_password' and kept_text is not null`.execute(app.db);
      expect(rows).toHaveLength(1);
      return tokenIn(rows[0] ?? {}, '/set-password');
    }, 10_000);
    const set = await browser.send(`/set-password?token=${token}`, { form: { newPassword: password } });
    expect(set.status).toBe(303);
    expect(await browser.whoAmI()).toBe(email);
  });

  it('refuses somebody without a second factor, and an unknown user', async () => {
    const before = await look();
    expectRefused(
      await cli(['user:remove-factors', 'customer@example.test']),
      /^This user has no second factor\.\n$/,
    );
    expectRefused(
      await cli(['user:remove-factors', 'nobody@example.test']),
      /^No user has this email address or id\.\n$/,
    );
    expect(await look()).toEqual(before);
  });
});

it('the command line names the settings at fault, but not their values', async () => {
  const away = 'postgres://identity:canary@127.0.0.1:1/identity';
  const [settings, database] = await Promise.all([
    runCli(away, ['migrate'], '', 'production'),
    runCli(away, ['migrate']),
  ]);
  expectRefused(settings, /IDENTITY_ISSUER is missing/);
  expect(database).toMatchObject({ code: 1, out: '' });
  expect(settings.err + database.err).not.toContain('canary');
});

// Clients in the database, over HTTP (contract section 13).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { findClientRow, lockClients } from '../../db/tables/clients.ts';
import { insertRestore } from '../../db/tables/restores.ts';
import { rotateSecret } from '../../server/clients/rows.ts';
import { openSecret } from '../../server/clients/secrets.ts';
import { countOf } from '../../server/identity/ground/allowances.ts';
import { sign } from '../../server/sso/hmac.ts';
import {
  type Answer,
  codeOf,
  locationOf,
  openApp,
  type TestApp,
  type TestInstance,
} from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { openWire } from '../support/database/wire.ts';
import {
  addPerson,
  addSession,
  addStaff,
  call,
  readData,
  readOutcome,
  why,
} from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const keys = { old: production.IDENTITY_ENCRYPTION_KEY, new: '09XvpblbwjQDcvVKHhqQW2n02rczeIvpyw9Ccox9K4U=' };
const app = shared(() => openApp({ env: production }));
const second = shared(() => app.startInstance());

type Staff = Awaited<ReturnType<typeof addStaff>>;
let admin: Staff;
beforeEach(async () => {
  admin = await addStaff(app);
});

let serial = 0;
const newName = () => `shop_${++serial}_${Math.random().toString(36).slice(2, 8)}`;
const callback = 'https://shop.example.test/sso/callback?lang=de';
const given = (client: string, more: Record<string, string> = {}) => ({ client, callback, why, ...more });

const act = (name: string, input: Record<string, string>, at: Pick<TestApp, 'send'> = app) =>
  call(at, `clients.${name}`, admin.cookie, input);

type Listed = {
  name: string;
  callbackUrl: string;
  row: null | {
    state: string;
    seen: string;
    secrets: { madeAt: Date; lastUsedAt: Date | null; isOfOlderKey: boolean }[];
  };
};
const list = async (at: Pick<TestApp, 'send'> = app): Promise<Listed[]> =>
  readData(await call(at, 'clients.list', admin.cookie, undefined, true));
const find = async (name: string, at?: Pick<TestApp, 'send'>) =>
  (await list(at)).find((each) => each.name === name);
const seenOf = async (client: string) => ({ client, why, seen: (await find(client))?.row?.seen ?? '' });
const change = async (name: string, client: string, more: Record<string, string> = {}) =>
  act(name, { ...(await seenOf(client)), ...more });

async function add(
  name = newName(),
  more?: Record<string, string>,
): Promise<{ name: string; secret: string }> {
  const answer = await act('add', given(name, more));
  expect(readOutcome(answer), answer.text).toBe('200');
  return { name, secret: readData(answer).secret };
}

async function openBrowserOf(at: Pick<TestApp, 'db' | 'config'> = app): Promise<string> {
  return (await addSession(at, (await addPerson(app)).id)).cookie;
}

const launch = (at: Pick<TestApp, 'send'>, name: string, cookie: string) =>
  at.send(`/sso/launch/${name}`, { cookie });

/** Returns `payload`, the path of another redirect, or the code of the refusal. */
const outcomeOf = (answer: Answer) =>
  answer.status === 303 && locationOf(answer).searchParams.has('payload')
    ? 'payload'
    : answer.status === 303
      ? locationOf(answer).pathname
      : codeOf(answer);

/** Each instance follows within two seconds; a busy machine gets a few more. */
const follow = async (at: Pick<TestApp, 'send'>, name: string, cookie: string, wanted: string) =>
  vi.waitFor(async () => expect(outcomeOf(await launch(at, name, cookie))).toBe(wanted), {
    timeout: 8_000,
    interval: 100,
  });

const tokenOf = (secret: string, name: string) => sign(secret, `identity events v1 ${name}`);
const readEvents = async (at: Pick<TestApp, 'send'>, name: string, secret: string) =>
  at.send('/sso/events', { headers: { authorization: `Bearer ${await tokenOf(secret, name)}` } });

const startAt = (env: Record<string, string | undefined>): Promise<TestInstance> =>
  app.startInstance({ env: { ...production, ...env } });

it('a pull that waits gets nothing once the client is off (contract 13.9)', async () => {
  const { name, secret } = await add();
  const authorization = `Bearer ${await tokenOf(secret, name)}`;
  const waits = app.send('/sso/events?wait=3', { headers: { authorization } });
  await new Promise((done) => setTimeout(done, 500));
  await change('turnOff', name);
  expect(codeOf(await waits)).toBe('invalid_token');
});

describe('a client that an administrator adds', () => {
  it('is launched at once here, and within two seconds elsewhere, with its own secret (contract 13.1 and 13.2)', async () => {
    const cookie = await openBrowserOf();
    const { name, secret } = await add();
    const answer = await launch(app, name, cookie);
    const url = locationOf(answer);
    expect(url.href.startsWith(`${callback}&payload=`)).toBe(true);
    const payload = url.searchParams.get('payload') ?? '';
    expect(url.searchParams.get('signature')).toBe(await sign(secret, payload));
    expect(url.searchParams.get('signature_next')).toBeNull();
    const started = Date.now();
    await follow(second, name, cookie, 'payload');
    expect(Date.now() - started).toBeLessThan(8_000);
    expect((await readEvents(second, name, secret)).status).toBe(200);
  });

  it('stops within two seconds once it is off, and goes on once it is on (contract 13.9)', async () => {
    const cookie = await openBrowserOf();
    const { name, secret } = await add();
    await follow(second, name, cookie, 'payload');
    expect(readOutcome(await change('turnOff', name))).toBe('200');
    expect(outcomeOf(await launch(app, name, cookie))).toBe('unknown_client');
    await follow(second, name, cookie, 'unknown_client');
    expect((await readEvents(second, name, secret)).status).toBe(401);
    expect((await find(name))?.row?.state).toBe('off');
    expect(readData(await change('turnOff', name))).toEqual({ done: false });
    expect(readOutcome(await change('turnOn', name))).toBe('200');
    await follow(second, name, cookie, 'payload');
  });

  it('is added once by 16 at once (contract 13.8)', async () => {
    const name = newName();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => act('add', given(name), n % 2 ? second : app)),
    );
    const outcomes = answers.map(readOutcome).sort();
    expect(outcomes).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
    for (const { text } of answers.filter(({ status }) => status !== 200))
      expect(text).not.toContain('idsec_');
    const { rows } = await sql`select 1 from clients where name = ${name}`.execute(app.db);
    expect(rows).toHaveLength(1);
  });

  it('never has three secrets, if 16 rotate at once (contract 13.23)', async () => {
    const { name } = await add();
    const seen = await seenOf(name);
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) => act('rotate', seen, n % 2 ? second : app)),
    );
    expect(answers.map(readOutcome).sort()).toEqual(['200', ...Array(15).fill('409 edited_meanwhile')]);
    expect((await find(name))?.row?.secrets).toHaveLength(2);
    const again = await change('rotate', name);
    expect(readOutcome(again)).toBe('409 edited_meanwhile');
    expect(again.text).toContain('two secrets already');
  });

  it('never has three secrets, if 16 operators rotate at once (contract 13.23)', async () => {
    const { name } = await add();
    const { issuer } = app.config;
    const rotate = () =>
      inTransaction(app.db, { by: 'operator', cause: 'test' }, async (trx) => {
        await lockClients(trx);
        const row = await findClientRow(trx, { issuer, name });
        return row && rotateSecret(trx, { config: app.config, now: () => new Date() }, row);
      });
    const outcomes = await Promise.allSettled(Array.from({ length: 16 }, rotate));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await find(name))?.row?.secrets).toHaveLength(2);
    // The database itself refuses a third secret.
    const third = sql`insert into client_secrets (id, client_id, made_at, sealed, key_id)
      select gen_random_uuid(), id, now(), '', '' from clients where name = ${name}`;
    await expect(third.execute(app.db)).rejects.toThrow('at most two secrets');
  });

  it('is counted in the metrics from the start (contract 13.2)', async () => {
    const { name } = await add();
    await launch(app, name, await openBrowserOf());
    const scrape = await app.fetchMetrics(new Request('http://localhost/metrics'), { address: '127.0.0.1' });
    const text = await scrape.text();
    expect(text).toContain(`identity_launches_total{client="${name}",outcome="payload"} 1`);
    expect(text).toContain(`identity_launches_total{client="${name}",outcome="login"} 0`);
  });

  it('signs with both secrets during a rotation, and says when each was used (contract 13.22 to 13.25)', async () => {
    const cookie = await openBrowserOf();
    const { name, secret: first } = await add();
    const made = readData(await change('rotate', name)).secret;
    const sealed = locationOf(await launch(app, name, cookie)).searchParams;
    const payload = sealed.get('payload') ?? '';
    expect(sealed.get('signature')).toBe(await sign(first, payload));
    expect(sealed.get('signature_next')).toBe(await sign(made, payload));
    expect((await readEvents(app, name, made)).status).toBe(200);
    await vi.waitFor(
      async () =>
        expect((await find(name))?.row?.secrets.map(({ lastUsedAt }) => lastUsedAt !== null)).toEqual([
          false,
          true,
        ]),
      { timeout: 8_000 },
    );
    expect(readOutcome(await change('endSecret', name, { which: 'first' }))).toBe('200');
    expect((await readEvents(app, name, first)).status).toBe(401);
    const after = locationOf(await launch(app, name, cookie)).searchParams;
    expect(after.get('signature')).toBe(await sign(made, after.get('payload') ?? ''));
    const last = await change('endSecret', name, { which: 'first' });
    expect(readOutcome(last)).toBe('409 edited_meanwhile');
    expect(last.text).toContain('only secret');
  });

  it('is changed, and nothing happens if it is so already (contract 13.30, 13.32 and 13.35)', async () => {
    const { name } = await add();
    const next = 'https://other.example.test/in';
    expect(readData(await change('set', name, { callback: next, roles: 'merchant,admin' }))).toEqual({
      done: true,
    });
    expect((await find(name))?.callbackUrl).toBe(next);
    const again = readData(await change('set', name, { callback: next }));
    const { rows } = await sql<{ details: unknown }>`select details from audit_events
      where type = 'staff.set_client' and details->>'client' = ${name}`.execute(app.db);
    expect(rows).toEqual([
      {
        details: {
          ...{ by: 'staff', client: name },
          was: { callback_url: callback, roles: ['admin', 'merchant', 'customer'] },
          now: { callback_url: next, roles: ['admin', 'merchant'] },
        },
      },
    ]);
    expect(again).toEqual({ done: false });
  });

  it('is told to every administrator, also to the one who acted (contract 13.29)', async () => {
    const colleague = await addStaff(app);
    const { name } = await add();
    const { rows } = await sql<{
      to: string;
      details: object;
    }>`select user_id as "to", details - 'since' as details
      from mails where kind = 'client_changed' and details->>'client' = ${name}`.execute(app.db);
    expect(rows.filter(({ to }) => [admin.id, colleague.id].includes(to))).toHaveLength(2);
    for (const { details } of rows) expect(details).toEqual({ by: admin.id, client: name, what: 'add' });
  });

  it.each([
    ['a name of the settings', { client: 'marketplace' }, '/client'],
    ['a name in a prefix', { client: 'crm' }, '/client'],
    ['a reserved word', { client: 'none' }, '/client'],
    ['a name like a path', { client: 'shop/../admin' }, '/client'],
    ['a name in Unicode', { client: 'shöp' }, '/client'],
    ['an upper-case name', { client: 'Shop' }, '/client'],
    ['a long name', { client: `a${'b'.repeat(63)}` }, '/client'],
    ['an unknown kind', { kind: 'saml' }, '/kind'],
    ['a callback on another scheme', { callback: 'javascript:alert(1)' }, '/callback'],
    ['a callback in clear', { callback: 'http://shop.example.test/' }, '/callback'],
    ['no callback', { callback: '' }, '/callback'],
    ['an unknown role', { roles: 'admin,owner' }, '/roles'],
    ['an unknown audience', { listed: 'nobody' }, '/listed'],
    ['an unknown factor', { factor: 'yes' }, '/factor'],
    ['a title that cannot be shown', { title: 'a\u202eb' }, '/title'],
    ['a login URL at an address', { loginUrl: 'https://192.0.2.1/' }, '/loginUrl'],
  ])(
    'is refused with %s, and nothing is done (contract 13.7, 13.13 and 13.31)',
    async (_, wrong, pointer) => {
      const before = await sql`select count(*) from clients`.execute(app.db);
      const answer = await act('add', { ...given(newName()), ...wrong });
      expect(readOutcome(answer)).toBe('422 validation_failed');
      expect(
        JSON.parse(answer.text).error.json.data.errors.map((each: { pointer: string }) => each.pointer),
      ).toEqual([pointer]);
      expect(await sql`select count(*) from clients`.execute(app.db)).toEqual(before);
    },
  );

  it('cannot be changed by managers, without a credential given now, or by an old page (contract 13.28)', async () => {
    const { name } = await add();
    const manager = await addStaff(app, 'manager');
    const stale = await addSession(app, admin.id, { authTime: new Date(Date.now() - 11 * 60_000) });
    const seen = await seenOf(name);
    for (const each of ['add', 'set', 'rotate', 'endSecret', 'turnOff', 'turnOn', 'confirm', 'testWebhook'])
      expect(readOutcome(await call(app, `clients.${each}`, manager.cookie, seen)), each).toBe(
        '404 not_found',
      );
    expect(readOutcome(await call(app, 'clients.turnOff', stale.cookie, seen))).toBe('401 login_required');
    await change('set', name, { title: 'Other' });
    expect(readOutcome(await act('turnOff', seen))).toBe('409 edited_meanwhile');
    expect(readOutcome(await act('turnOff', { ...seen, client: 'nobody_here' }))).toBe('404 not_found');
  });
});

it('keeps its name once it is off, and is listed with all that programs need (contract 13.3, 13.8 and 13.36)', async () => {
  const { name } = await add();
  await change('turnOff', name);
  expect(readOutcome(await act('add', given(name)))).toBe('409 edited_meanwhile');
  expect((await find(name))?.row).toEqual({
    ...{ state: 'off', kind: 'hand-off', listed: ['everybody'] },
    ...{
      offAt: expect.any(String),
      createdAt: expect.any(String),
      changedAt: expect.any(String),
    },
    secrets: [{ madeAt: expect.any(String), lastUsedAt: null, isOfOlderKey: false }],
    seen: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect((await find('marketplace'))?.row).toBeNull();
});

it('each administrator has 300 changes an hour, and can always end access (contract 13.33)', async () => {
  const { name } = await add();
  const { key, times } = countOf('staff.set_client', admin.id);
  await sql`update rate_limits set points = ${times} where key = ${key}`.execute(app.db);
  expect(readOutcome(await act('add', given(newName())))).toBe('429 rate_limited');
  for (const each of ['set', 'rotate'])
    expect(readOutcome(await change(each, name, { title: 'Other' })), each).toBe('429 rate_limited');
  expect(readOutcome(await change('turnOff', name))).toBe('200');
  expect(readOutcome(await change('turnOn', name))).toBe('429 rate_limited');
});

describe('a row is bound to', () => {
  it('its issuer: another service on the same database sees nothing of it (contract 13.4)', async () => {
    const { name, secret } = await add();
    const other = await startAt({ IDENTITY_ISSUER: 'https://id.elsewhere.test' });
    const cookie = await openBrowserOf({ db: app.db, config: other.config });
    expect(outcomeOf(await launch(other, name, cookie))).toBe('unknown_client');
    expect((await readEvents(other, name, secret)).status).toBe(401);
    expect(await find(name, other)).toBeUndefined();
    expect(readOutcome(await act('turnOff', await seenOf(name), other))).toBe('404 not_found');
    // If SQL changes the issuer of a row, no instance can open its secret, because it is sealed for the first issuer.
    await sql`update clients set issuer = 'https://id.elsewhere.test' where name = ${name}`.execute(app.db);
    await vi.waitFor(async () => expect((await find(name, other))?.row?.state).toBe('unreadable'), {
      timeout: 8_000,
    });
    expect(outcomeOf(await launch(other, name, cookie))).toBe('unknown_client');
    await sql`delete from clients where name = ${name}`.execute(app.db);
  });

  it('an encryption key: without it that row alone is refused, and named once (contract 13.27)', async () => {
    const { name } = await add();
    const { name: other } = await add();
    await sql`update client_secrets set sealed = overlay(sealed placing '\\x00000000'::bytea from 14)
      where client_id = (select id from clients where name = ${name})`.execute(app.db);
    const cookie = await openBrowserOf();
    await follow(app, name, cookie, 'unknown_client');
    expect(outcomeOf(await launch(app, other, cookie))).toBe('payload');
    expect((await find(name))?.row?.state).toBe('unreadable');
    await add();
    const lines = app.logged.filter(
      (line) => line.fields.client === name && JSON.stringify(line).includes('no key opens'),
    );
    // One or two instances may have logged this line.
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(3);
    await sql`delete from clients where name = ${name}`.execute(app.db);
  });

  it('the settings: they count, and the row is off (contract 13.5)', async () => {
    const { name, secret } = await add();
    const upper = name.toUpperCase();
    const setSecret = 'bT6yHn5mJu7kIl8oPq9wSx2eDc3rFv4t';
    const named = await startAt({
      SSO_CLIENTS: name,
      [`SSO_${upper}_CALLBACK_URL`]: 'https://set.example.test/cb',
      [`SSO_${upper}_SECRET`]: setSecret,
    });
    const cookie = await openBrowserOf();
    const url = locationOf(await launch(named, name, cookie));
    expect(url.host).toBe('set.example.test');
    expect((await readEvents(named, name, secret)).status).toBe(401);
    expect((await find(name, named))?.row?.state).toBe('in_settings');
    const { seen = '' } = (await find(name, named))?.row ?? {};
    const refused = await act('turnOn', { client: name, why, seen }, named);
    expect(readOutcome(refused)).toBe('409 edited_meanwhile');
    expect(refused.text).toContain('only the settings count');
    await add();
    await add();
    await find(name, named);
    const lines = app.logged.filter(
      (line) => line.fields.client === name && JSON.stringify(line).includes('settings name'),
    );
    expect(lines).toHaveLength(1);
  });
});

it('an instance that was cut off from the database follows once it is back (contract 13.1)', async () => {
  const wire = await openWire(app.databaseUrl);
  const cookie = await openBrowserOf();
  const { name } = await add();
  const cutOff = await app.startInstance({ databaseUrl: wire.url });
  expect(outcomeOf(await launch(cutOff, name, cookie))).toBe('payload');
  wire.cut();
  await change('turnOff', name);
  // During such a time, other jobs begin to pause for longer between their tries.
  await new Promise((done) => setTimeout(done, 5_000));
  wire.restore();
  const since = Date.now();
  await follow(cutOff, name, cookie, 'unknown_client');
  expect(Date.now() - since).toBeLessThan(6_000);
  const failed = app.logged.filter(({ message }) => message === 'clients failed');
  expect(failed).toHaveLength(1);
  wire.close();
});

it('a restore stops every row, until each is confirmed (contract 13.10 and 13.11)', async () => {
  const cookie = await openBrowserOf();
  const [one, other] = [await add(), await add()];
  await follow(second, other.name, cookie, 'payload');
  await inTransaction(app.db, { by: 'operator', cause: 'test' }, insertRestore);
  for (const at of [app, second]) await follow(at, one.name, cookie, 'unknown_client');
  expect((await readEvents(app, one.name, one.secret)).status).toBe(401);
  expect((await find(one.name))?.row?.state).toBe('unconfirmed');
  expect(outcomeOf(await launch(app, 'marketplace', cookie))).toBe('payload');
  expect(readOutcome(await change('confirm', one.name))).toBe('200');
  for (const at of [app, second]) await follow(at, one.name, cookie, 'payload');
  expect(outcomeOf(await launch(app, other.name, cookie))).toBe('unknown_client');
  // A row that is added after the restore need not be confirmed.
  expect(outcomeOf(await launch(app, (await add()).name, cookie))).toBe('payload');
  await change('confirm', other.name);
});

it('once a new encryption key is first, every secret is sealed anew with it (contract 13.26)', async () => {
  const cookie = await openBrowserOf();
  const { name, secret } = await add();
  const both = await startAt({ IDENTITY_ENCRYPTION_KEY: `${keys.new},${keys.old}` });
  await vi.waitFor(
    async () =>
      expect((await find(name, both))?.row?.secrets.map(({ isOfOlderKey }) => isOfOlderKey)).toEqual([false]),
    { timeout: 10_000 },
  );
  await vi.waitFor(() =>
    expect(app.logged.map(({ message }) => message)).toContain(
      'no secret of a client is sealed with an older key',
    ),
  );
  const alone = await startAt({ IDENTITY_ENCRYPTION_KEY: keys.new ?? '' });
  const sealed = locationOf(await launch(alone, name, cookie)).searchParams;
  expect(sealed.get('signature')).toBe(await sign(secret, sealed.get('payload') ?? ''));
  // An instance that has only the old key refuses this client, and serves the others.
  await follow(app, name, cookie, 'unknown_client');
  expect(outcomeOf(await launch(app, 'marketplace', cookie))).toBe('payload');
  both.drain();
  alone.drain();
  await sql`delete from clients`.execute(app.db);
});

it('the secret is nowhere but in the answer that made it (contract 13.21)', async () => {
  const { name, secret } = await add();
  const rotated = readData(await change('rotate', name)).secret;
  await change('turnOff', name);
  const { rows: tables } = await sql<{
    name: string;
  }>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(app.db);
  const pages = await Promise.all(
    [`/admin/clients/${name}`, '/admin/clients', '/admin/audit', '/admin'].map((path) =>
      app.send(path, { cookie: admin.cookie }),
    ),
  );
  expect(pages[0]?.text).toContain(`data-client="${name}"`);
  const texts = [
    ...pages.flatMap(({ text, headers }) => [text, JSON.stringify([...headers])]),
    (await call(app, 'clients.list', admin.cookie, undefined, true)).text,
    JSON.stringify(app.logged),
    await (await app.fetchMetrics(new Request('http://localhost/metrics'), { address: '127.0.0.1' })).text(),
    ...(await Promise.all(
      tables.map(
        async ({ name: table }) =>
          (
            await sql<{
              text: string;
            }>`select string_agg(t::text, '|') as text from ${sql.table(table)} t`.execute(app.db)
          ).rows[0]?.text ?? '',
      ),
    )),
  ];
  for (const each of [secret, rotated]) {
    expect(each).toMatch(/^idsec_[A-Za-z0-9_-]{49}$/);
    const hidden = [
      each,
      each.slice(6, 49),
      Buffer.from(each).toString('hex'),
      Buffer.from(each).toString('base64'),
    ];
    for (const text of texts) for (const form of hidden) expect(text.includes(form)).toBe(false);
  }
  // The database has the sealed secret, and the key opens it.
  const { rows } = await sql<{ id: string; issuer: string; name: string; sealed: Uint8Array }>`
    select c.id, c.issuer, c.name, s.sealed from clients c join client_secrets s on s.client_id = c.id
    where c.name = ${name} order by s.made_at`.execute(app.db);
  const opened = await Promise.all(
    rows.map(({ sealed, ...row }) => openSecret(app.config.encryptionKeys, row, sealed)),
  );
  expect(opened).toEqual([secret, rotated]);
});

it('a name with a character that the database refuses is no client (contract 13.7)', async () => {
  for (const name of ['add', 'set', 'testWebhook'])
    expect(readOutcome(await act(name, given('a\u0000b')))).toBe(
      name === 'add' ? '422 validation_failed' : '404 not_found',
    );
});

it('a long name gives a title that can be saved again (contract 13.31)', async () => {
  const name = `long_${'x'.repeat(58)}`;
  await add(name);
  const title = `Long ${'x'.repeat(55)}`;
  expect(await find(name)).toMatchObject({ title });
  expect(readData(await change('set', name, { title }))).toEqual({ done: false });
});

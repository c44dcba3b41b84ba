// Clients that move into the database from the settings, and from another issuer (contract 13.90 to 13.96).
import { sql } from 'kysely';
import { beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { listClientRows, replaceSealed } from '../../db/tables/clients.ts';
import { insertRestore } from '../../db/tables/restores.ts';
import { openSecret, sealSecret } from '../../server/clients/secrets.ts';
import { sign } from '../../server/sso/hmac.ts';
import { type Answer, codeOf, locationOf, openApp, type TestApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, type Outcome, runCli } from '../support/app/cli.ts';
import { listAudit, listClientMails, listStored } from '../support/app/client-files.ts';
import { production } from '../support/app/settings.ts';
import { addPerson, addSession, addStaff } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const secrets = ['kF6nZ0qLr3vXs9yTb2mWc5hJd8gPe1uA', 'wS4tBn8yKc2fRm6xJp0vGd5hLq9zTe3u'];
const ofTill = {
  SSO_CLIENTS: 'till,new',
  SSO_TILL_CALLBACK_URL: 'https://till.example.test/cb?lang=de',
  SSO_TILL_LOGIN_URL: 'https://till.example.test',
  SSO_TILL_SECRET: secrets.join(','),
  SSO_TILL_TITLE: 'The till',
  SSO_TILL_LISTED: 'visited,merchants',
  SSO_TILL_FACTOR: 'optional',
  SSO_TILL_ROLES: 'customer,merchant',
  SSO_NEW_CALLBACK_URL: 'https://new.example.test/cb',
  SSO_NEW_SECRET: 'bT6yHn5mJu7kIl8oPq9wSx2eDc3rFv4t',
};
const app = shared(() => openApp({ env: { ...production, ...ofTill } }));
const why = ['--why', 'out of the settings', '--by', 'Olga'];

const without = Object.fromEntries(
  Object.entries(production).flatMap(([name, value]) =>
    value === undefined || ['DATABASE_URL', 'NODE_ENV'].includes(name) ? [] : [[name, value]],
  ),
);
const run = (args: string[], settings: Record<string, string> = ofTill) =>
  runCli(app.databaseUrl, [...args, ...why], '', 'production', { ...without, ...settings });

beforeEach(async () => {
  for (const table of ['clients', 'audit_events', 'mails'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

async function launch(at: Pick<TestApp, 'send' | 'config' | 'db'>, name: string): Promise<Answer> {
  const { cookie } = await addSession(at, (await addPerson(app)).id);
  return at.send(`/sso/launch/${name}`, { cookie });
}

const startAt = async (env: Record<string, string>) => {
  const started = await app.startInstance({ env: { ...production, ...env } });
  return { ...started, db: app.db };
};

async function openStored(name: string, keys = app.config.encryptionKeys): Promise<(string | undefined)[]> {
  const row = (await listStored(app.db)).find((each) => each.name === name);
  return Promise.all(row?.sealed.map((sealed) => openSecret(keys, row, sealed)) ?? []);
}

it('client:adopt copies a client with its secrets, which count once the settings do not name it (contract 13.90, 13.91 and 13.95)', async () => {
  const { id } = await addStaff(app);
  const { code, out, err } = await run(['client:adopt', 'till']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(
    /^Client till is in the database, with its secrets\. The settings still count: .*SSO_CLIENTS/,
  );
  for (const secret of secrets) expect(out).not.toContain(secret);
  expect(await openStored('till')).toEqual(secrets);
  const { rows } = await sql`select title, callback_url, login_url, events_url, listed, roles, needs_factor
    from clients`.execute(app.db);
  const facts = {
    ...{ title: 'The till', callback_url: ofTill.SSO_TILL_CALLBACK_URL, events_url: null },
    ...{ login_url: 'https://till.example.test/', listed: ['merchants', 'visited'] },
    roles: ['merchant', 'customer'],
  };
  expect(rows).toEqual([{ ...facts, needs_factor: false }]);
  // The instance whose settings have the client and the one without them sign with the same secrets.
  const later = await startAt({});
  for (const at of [app, later]) {
    const query = locationOf(await launch(at, 'till')).searchParams;
    const payload = query.get('payload') ?? '';
    expect(query.get('signature')).toBe(await sign(secrets[0] ?? '', payload));
    expect(query.get('signature_next')).toBe(await sign(secrets[1] ?? '', payload));
  }
  expect(await listAudit(app.db)).toEqual([
    expect.objectContaining({
      ...{ type: 'staff.add_client', client: 'till', why: 'out of the settings' },
      details: expect.objectContaining({
        ...{ adopted: true, operator: 'Olga' },
        now: { kind: 'hand-off', ...facts, factor: 'optional' },
      }),
    }),
  ]);
  expect((await listClientMails(app.db)).filter((mail) => mail.user_id === id)).toEqual([
    { user_id: id, what: 'adopt', client: 'till' },
  ]);
  const again = await run(['client:adopt', 'till', '--json']);
  expect(JSON.parse(again.out)).toEqual({ done: false, intent: 'adopt', id: 'till' });
  expect(await listAudit(app.db)).toHaveLength(1);
});

it('client:adopt again makes the row as the settings are now (contract 13.91)', async () => {
  await run(['client:adopt', 'till']);
  await run(['client:off', 'till']);
  await inTransaction(app.db, { by: 'operator', cause: 'test' }, insertRestore);
  const rotated = { ...ofTill, SSO_TILL_SECRET: secrets[1] ?? '', SSO_TILL_TITLE: 'Other' };
  const again = await run(['client:adopt', 'till'], rotated);
  expect(again.code).toBe(0);
  expect(again.out).toContain('The secrets that it had there have ended.');
  expect(await openStored('till')).toEqual([secrets[1]]);
  const { rows } = await sql`select title, off_at, restores = (select count(*) from restores) as is_confirmed
    from clients`.execute(app.db);
  expect(rows).toEqual([{ title: 'Other', off_at: null, is_confirmed: true }]);
  expect((await listAudit(app.db)).at(-1)).toMatchObject({
    type: 'staff.set_client',
    details: {
      ...{ adopted: true, was: { title: 'The till' }, now: { title: 'Other' } },
      ...{ secrets: true, on: true, confirmed: true },
    },
  });
});

it.each([
  ['a built-in client', 'marketplace', {}, /built in/],
  ['a reserved name', 'new', {}, /use the word new/],
  ['a client that the settings do not name', 'nobody', {}, /name no client nobody/],
  [
    'addresses that a row may not have',
    'till',
    { SSO_TILL_CALLBACK_URL: 'https://192.0.2.1/cb', SSO_TILL_LOGIN_URL: 'https://192.0.2.1/login' },
    /SSO_TILL_CALLBACK_URL: .*\nSSO_TILL_LOGIN_URL: .*\nNothing was done/,
  ],
])('client:adopt refuses %s, and does nothing (contract 13.92)', async (_what, name, settings, sentence) => {
  expectRefused(await run(['client:adopt', name], { ...ofTill, ...settings }), sentence);
  expect(await listStored(app.db)).toEqual([]);
});

const added = async (...names: string[]) => {
  for (const name of names) {
    const args = ['client:add', name, '--callback', 'https://shop.example.test/cb'];
    expect((await run(args)).code).toBe(0);
  }
};
const moved = { ...ofTill, IDENTITY_ISSUER: 'https://login.example.test' };
const rebind = (settings = moved, ...args: string[]) =>
  run(['client:rebind', '--from', 'https://id.example.test', ...args], settings);

it('client:rebind moves every row with its secrets and its state (contract 13.93, 13.141 and 13.142)', async () => {
  const { id } = await addStaff(app);
  await added('shop', 'closed');
  await run(['client:off', 'closed']);
  const opened = await openStored('shop');
  const there = await startAt({ IDENTITY_ISSUER: moved.IDENTITY_ISSUER });
  expect(codeOf(await launch(there, 'shop'))).toBe('unknown_client');
  const { code, out, err } = await rebind();
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe('Moved to https://login.example.test: closed, shop.\n');
  expect(await openStored('shop')).toEqual(opened);
  expect((await listStored(app.db)).map(({ name, issuer, is_off: off }) => [name, issuer, off])).toEqual([
    ['closed', moved.IDENTITY_ISSUER, true],
    ['shop', moved.IDENTITY_ISSUER, false],
  ]);
  await vi.waitFor(
    async () => {
      const query = locationOf(await launch(there, 'shop')).searchParams;
      expect(query.get('signature')).toBe(await sign(opened[0] ?? '', query.get('payload') ?? ''));
      expect(codeOf(await launch(app, 'shop'))).toBe('unknown_client');
    },
    { timeout: 8_000 },
  );
  expect((await listAudit(app.db)).slice(-2)).toEqual(
    ['closed', 'shop'].map((client) =>
      expect.objectContaining({
        ...{ type: 'staff.set_client', client },
        details: expect.objectContaining({
          ...{ was: { issuer: 'https://id.example.test' }, now: { issuer: moved.IDENTITY_ISSUER } },
        }),
      }),
    ),
  );
  const mails = (await listClientMails(app.db)).filter((mail) => mail.user_id === id);
  expect(mails.at(-1)).toEqual({ user_id: id, what: 'rebind', client: 'closed, shop' });
  const again = await rebind(moved, '--json');
  expect([again.code, JSON.parse(again.out)]).toEqual([
    0,
    {
      ...{ done: false, intent: 'rebind', from: 'https://id.example.test', to: moved.IDENTITY_ISSUER },
      ...{ moved: [], unreadable: [], taken: [], misaddressed: [] },
    },
  ]);
});

it('client:rebind names a row whose name is taken, leaves it, and moves the others (contract 13.94)', async () => {
  await added('shop', 'other');
  const args = ['client:add', 'shop', '--callback', 'https://shop.example.test/cb'];
  expect((await run(args, moved)).code).toBe(0);
  const opened = await openStored('shop');
  const { code, out } = await rebind();
  expect(code).toBe(1);
  expect(out).toMatch(/^Moved to \S+: other\. Clients under \S+ already have these names: shop\. Left/);
  expect((await listStored(app.db)).map(({ name, issuer }) => [name, issuer])).toEqual(
    expect.arrayContaining([
      ['other', moved.IDENTITY_ISSUER],
      ['shop', 'https://id.example.test'],
      ['shop', moved.IDENTITY_ISSUER],
    ]),
  );
  expect(await openStored('shop')).toEqual(opened);
});

it.each([
  ['callback_url', 'http://localhost:4000/cb'],
  ['callback_url', 'https://localhost/cb'],
  ['events_url', 'https://192.0.2.1/events'],
])('client:rebind leaves a row whose %s is %s (contract 13.94)', async (column, url) => {
  await added('local', 'shop');
  await sql`update clients set ${sql.ref(column)} = ${url} where name = 'local'`.execute(app.db);
  const { code, out } = await rebind();
  expect([code, out]).toEqual([
    1,
    'Moved to https://login.example.test: shop. Addresses of local are not allowed here. Left where they are.\n',
  ]);
});

it('client:rebind names a row that no key opens, leaves it, and moves the others (contract 13.94)', async () => {
  await added('broken', 'shop');
  const row = (await listStored(app.db)).find(({ name }) => name === 'broken');
  const { sealed } = await sealSecret(
    [new Uint8Array(32).fill(7)],
    row ?? { id: '', issuer: '', name: '' },
    'x',
  );
  await sql`update client_secrets set sealed = ${sealed} where client_id = ${row?.id}`.execute(app.db);
  const { code, out } = await rebind();
  expect(code).toBe(1);
  expect(out).toMatch(/^Moved to https:\/\/login.example.test: shop\. No key opens the secrets of broken:/);
  expect((await listStored(app.db)).map(({ name, issuer }) => [name, issuer])).toEqual([
    ['broken', 'https://id.example.test'],
    ['shop', moved.IDENTITY_ISSUER],
  ]);
});

it('16 at once adopt once and move once (contract 13.90 and 13.93)', async () => {
  const times = <Value>(act: () => Promise<Value>) => Promise.all(Array.from({ length: 16 }, act));
  const countDone = (outcomes: Outcome[]) => {
    for (const { code, err } of outcomes) expect(code, err).toBe(0);
    return outcomes.filter(({ out }) => JSON.parse(out).done).length;
  };
  expect(countDone(await times(() => run(['client:adopt', 'till', '--json'])))).toBe(1);
  expect(countDone(await times(() => rebind(moved, '--json')))).toBe(1);
  expect((await listAudit(app.db)).map(({ type }) => type)).toEqual(['staff.add_client', 'staff.set_client']);
  expect(await openStored('till')).toEqual(secrets);
});

it('a job that seals anew does not overwrite what client:rebind has sealed meanwhile (contract 13.26 and 13.93)', async () => {
  await added('shop');
  const opened = await openStored('shop');
  const [row] = await listClientRows(app.db, 'https://id.example.test');
  const [read] = row?.secrets ?? [];
  await rebind();
  if (row && read)
    await replaceSealed(app.db, read, await sealSecret(app.config.encryptionKeys, row, opened[0] ?? ''));
  expect(await openStored('shop')).toEqual(opened);
});

it('client:rebind says under which issuer clients are, and needs another one than the present (contract 13.93 and 13.96)', async () => {
  await added('shop');
  expectMisused(await rebind(ofTill as unknown as typeof moved), /change it first/);
  const args = ['client:rebind', '--from', 'https://typo.example.test', '--why', 'moved'];
  const { code, out } = await runCli(app.databaseUrl, args, '', 'production', { ...without, ...moved });
  expect([code, out]).toEqual([
    0,
    'No client was moved from https://typo.example.test to https://login.example.test. There are clients that were added under https://id.example.test.\n',
  ]);
  for (const command of [
    ['client:adopt', 'till'],
    ['client:rebind', '--from', 'https://a.test'],
  ])
    expectMisused(
      await runCli(app.databaseUrl, command, '', 'production', { ...without, ...moved }),
      /--why/,
    );
});

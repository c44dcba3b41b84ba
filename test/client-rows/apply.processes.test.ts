// client:apply makes the clients of the database those of a file (contract 13.80 to 13.89).
import { readFile, stat, writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { insertRestore } from '../../db/tables/restores.ts';
import { openSecret } from '../../server/clients/secrets.ts';
import { openApp } from '../support/app/app.ts';
import { expectMisused, expectRefused, type Outcome, runCli } from '../support/app/cli.ts';
import {
  listAudit,
  listClientMails,
  listStored,
  newPath,
  readSecrets,
  writeClients,
} from '../support/app/client-files.ts';
import { addStaff } from '../support/people/staff.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const app = shared(openApp);
const folder = await sharedFolder();
const why = ['--why', 'commit 1a2b3c', '--by', 'Olga'];
const callback = 'http://localhost:4000/cb';
const shop = { name: 'shop', title: 'The shop', callback, roles: ['merchant'] };
const till = { name: 'till', callback, login_url: 'http://localhost:4000/login', factor: 'required' };

beforeEach(async () => {
  for (const table of ['clients', 'audit_events', 'mails'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

const apply = async (clients: unknown, ...args: string[]) =>
  runCli(app.databaseUrl, ['client:apply', await writeClients(folder, clients), ...args, ...why]);

async function applyNew(clients: unknown, ...args: string[]): Promise<Outcome & { secrets: string }> {
  const secrets = newPath(folder);
  const outcome = await apply(clients, '--secrets-to', secrets, ...args);
  expect(outcome.code, outcome.err).toBe(0);
  return { ...outcome, secrets };
}

const listNames = async () => (await listStored(app.db)).map(({ name, is_off: isOff }) => [name, isOff]);
const findStored = async (name: string) => (await listStored(app.db)).find((row) => row.name === name);

async function openStored(name: string): Promise<(string | undefined)[]> {
  const row = await findStored(name);
  return Promise.all(
    row ? row.sealed.map((sealed) => openSecret(app.config.encryptionKeys, row, sealed)) : [],
  );
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

it('adds clients with the defaults of client:add, and writes their secrets to a file of its owner (contract 13.80 and 13.85)', async () => {
  const { out, err, secrets } = await applyNew([shop, { ...till, title: null }]);
  expect(out).toBe('shop: added\ntill: added\n0 clients are as the file says already.\n');
  expect(err).toBe(`The secrets of the new clients are in ${secrets}.\n`);
  expect((await stat(secrets)).mode & 0o777).toBe(0o600);
  expect(await readFile(secrets, 'utf8')).toMatch(
    /^shop\tidsec_[A-Za-z0-9_-]{49}\ntill\tidsec_[A-Za-z0-9_-]{49}\n$/,
  );
  for (const [name, secret] of await readSecrets(secrets)) expect(await openStored(name)).toEqual([secret]);
  const { rows } = await sql`select name, kind, title, login_url, events_url, listed, roles, needs_factor
    from clients order by name`.execute(app.db);
  const all = { kind: 'hand-off', events_url: null, listed: ['everybody'] };
  expect(rows).toEqual([
    { ...all, name: 'shop', title: 'The shop', login_url: null, roles: ['merchant'], needs_factor: false },
    {
      ...{ ...all, name: 'till', title: 'Till', login_url: till.login_url, needs_factor: true },
      roles: ['admin', 'merchant', 'customer'],
    },
  ]);
});

it('changes what differs, turns on again, and leaves the rest (contract 13.82)', async () => {
  await applyNew([shop, till, { name: 'third', callback }]);
  await runCli(app.databaseUrl, ['client:off', 'till', ...why]);
  const { code, out, err } = await apply([{ ...shop, title: 'Other', factor: 'required' }, till]);
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(
    'shop: changed\n  title: "The shop" → "Other"\n  factor: "optional" → "required"\ntill: turned on\n0 clients are as the file says already.\n',
  );
  expect(await listNames()).toEqual([
    ['shop', false],
    ['third', false],
    ['till', false],
  ]);
});

it('does nothing the second time, and needs no file of secrets then (contract 13.84 and 13.86)', async () => {
  const { secrets } = await applyNew([shop, till]);
  const before = [await readFile(secrets, 'utf8'), await listAudit(app.db), await listClientMails(app.db)];
  const said = '2 clients are as the file says already.\n';
  // A repeated command succeeds and changes nothing, although the file of secrets exists.
  for (const args of [[], ['--secrets-to', secrets], ['--prune']])
    expect(await apply([till, shop], ...args)).toEqual({ code: 0, err: '', out: said });
  expect([await readFile(secrets, 'utf8'), await listAudit(app.db), await listClientMails(app.db)]).toEqual(
    before,
  );
});

it('turns off what the file does not name only with --prune, and never what the settings name (contract 13.83)', async () => {
  await applyNew([shop, till, { name: 'third', callback }]);
  const settings = {
    SSO_CLIENTS: 'third',
    SSO_THIRD_CALLBACK_URL: callback,
    SSO_THIRD_SECRET: 'kF6nZ0qLr3vXs9yTb2mWc5hJd8gPe1uA',
  };
  const path = await writeClients(folder, [shop]);
  const prune = ['client:apply', path, '--prune', ...why];
  const { code, out } = await runCli(app.databaseUrl, prune, '', 'test', settings);
  expect([code, out]).toEqual([0, 'till: turned off\n1 client is as the file says already.\n']);
  expect(await listNames()).toEqual([
    ['shop', false],
    ['third', false],
    ['till', true],
  ]);
  expect((await apply([shop])).code).toBe(0);
  expectRefused(await apply([], '--prune'), /The file names no client, so --prune would turn off all\./);
  const third = await apply([till], '--prune', '--json');
  expect(JSON.parse(third.out)).toEqual({
    ...{ done: true, intent: 'apply', dry_run: false, unconfirmed: [], same: 0 },
    clients: [['till', 'on'], ...['shop', 'third'].map((client) => [client, 'off'])].map(([client, did]) => ({
      ...{ client, did: [did], changes: [] },
    })),
  });
});

it('says with --dry-run what it would do, and does nothing (contract 13.84)', async () => {
  await applyNew([shop, till]);
  const before = await listStored(app.db);
  const { code, out, err } = await apply(
    [
      { ...shop, callback: 'http://localhost:4001/cb' },
      { name: 'new_one', callback },
    ],
    '--prune',
    '--dry-run',
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toBe(
    `shop: would be changed\n  callback: "${callback}" → "http://localhost:4001/cb"\nnew_one: would be added\ntill: would be turned off\n0 clients are as the file says already.\n`,
  );
  expect(await listStored(app.db)).toEqual(before);
  expect(await listAudit(app.db)).toHaveLength(2);
  const told = JSON.parse((await apply([{ ...shop, title: 'Other' }], '--dry-run', '--json')).out);
  expect(told).toEqual({
    ...{ done: false, intent: 'apply', dry_run: true, unconfirmed: [], same: 0 },
    clients: [
      { client: 'shop', did: ['set'], changes: [{ member: 'title', was: 'The shop', now: 'Other' }] },
    ],
  });
});

it('names every fault with entry and member, and then does nothing (contract 13.81)', async () => {
  const secrets = newPath(folder);
  const clients = [
    shop,
    { ...till, color: 'red', callback: 'https://till.example.test/' },
    { name: 'marketplace', callback },
    { name: 'shop', callback },
    { name: 'Shöp', callback, kind: 'saml' },
    { callback },
    'shop',
    { name: 'typed', callback: 7, roles: 'admin', listed: ['everybody,merchants'], factor: 'maybe' },
    {
      name: 'words',
      callback,
      roles: ['owner'],
      listed: [],
      title: 't'.repeat(61),
      login_url: 'x',
      events_url: 'y',
    },
    JSON.parse(`{ "name": "proto", "callback": "${callback}", "__proto__": {} }`),
  ];
  const outcome = await apply(clients, '--secrets-to', secrets);
  expectRefused(outcome, /Nothing was done\.\n$/);
  const lines = outcome.err.trimEnd().split('\n');
  const named = lines.map((line) => line.split(': ')[0]);
  expect(named).toEqual([
    ...['Entry 2 (till), color', 'Entry 2 (till), callback', 'Entry 3 (marketplace), name'],
    ...['Entry 4 (shop), name', 'Entry 5 (Shöp), name', 'Entry 5 (Shöp), kind', 'Entry 6, name', 'Entry 7'],
    ...['callback', 'roles', 'listed', 'factor'].map((member) => `Entry 8 (typed), ${member}`),
    ...['title', 'login_url', 'events_url', 'listed', 'roles'].map((member) => `Entry 9 (words), ${member}`),
    ...['Entry 10 (proto), __proto__', 'Nothing was done.'],
  ]);
  expect(await listStored(app.db)).toEqual([]);
  expect(await isThere(secrets)).toBe(false);
  expectRefused(await apply(clients, '--dry-run'), /Entry 10/);
});

it.each([
  ['not JSON', '{', /not JSON/],
  ['a list', '[]', /must be an object/],
  ['another member', '{"clients":[],"version":1}', /one member clients/],
  ['a name twice', '{"clients":[],"clients":[]}', /duplicate name/],
  ['not UTF-8', new Uint8Array([0xff]), /not UTF-8/],
  ['201 entries', Array.from({ length: 201 }, () => ({})), /more than 200/],
  ['more than 2 MiB', ' '.repeat(2 * 1_024 * 1_024 + 1), /larger than 2 MiB/],
])('refuses a file that is %s (contract 13.80)', async (_what, file, sentence) => {
  expectRefused(await apply(file), sentence);
});

it('does nothing without a place for secrets, or over a file that exists (contract 13.86)', async () => {
  expectMisused(await apply([shop]), /--secrets-to/);
  const secrets = newPath(folder);
  await writeFile(secrets, 'kept');
  expectRefused(await apply([shop], '--secrets-to', secrets), /there is such a file already/);
  expectRefused(await apply([shop], '--secrets-to', `${folder}/missing/secrets`), /no such folder/);
  expect(await readFile(secrets, 'utf8')).toBe('kept');
  expect(await listStored(app.db)).toEqual([]);
  expectMisused(await runCli(app.databaseUrl, ['client:apply', await writeClients(folder, [])]), /--why/);
});

it('removes the file of secrets if the commit fails (contract 13.85)', async () => {
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`.execute(
    app.db,
  );
  await sql`create constraint trigger refuse after insert on clients deferrable initially deferred
    for each row execute function refuse()`.execute(app.db);
  const secrets = newPath(folder);
  const { code, out } = await apply([shop], '--secrets-to', secrets);
  await sql`drop trigger refuse on clients`.execute(app.db);
  expect([code, out]).toEqual([1, '']);
  expect(await isThere(secrets)).toBe(false);
  expect(await listStored(app.db)).toEqual([]);
});

it('confirms after a restore what equals the file, and names what does not (contract 13.87)', async () => {
  const third = { name: 'third', callback };
  await applyNew([shop, till, third, { name: 'fourth', callback }]);
  await runCli(app.databaseUrl, ['client:off', 'third', ...why]);
  await inTransaction(app.db, { by: 'operator', cause: 'test' }, insertRestore);
  const clients = [shop, { ...till, title: 'Other' }, third];
  const plain = await apply([shop]);
  expect(plain.out).toMatch(/^shop: waits to be confirmed.*\n1 client is/);
  const { code, out } = await apply(clients, '--after-restore', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    ...{ done: true, intent: 'apply', dry_run: false, unconfirmed: ['till', 'third'], same: 0 },
    clients: [
      { client: 'shop', did: ['confirm'], changes: [] },
      { client: 'till', did: ['set'], changes: [{ member: 'title', was: 'Till', now: 'Other' }] },
      { client: 'third', did: ['on'], changes: [] },
    ],
  });
  const { rows } = await sql<{
    name: string;
  }>`select name from clients where restores = (select count(*) from restores)`.execute(app.db);
  expect(rows).toEqual([{ name: 'shop' }]);
  expect((await listAudit(app.db)).map(({ type, client }) => [type, client]).slice(-3)).toEqual([
    ['staff.confirm_client', 'shop'],
    ['staff.set_client', 'till'],
    ['staff.turn_client_on', 'third'],
  ]);
});

it('writes to the audit as single acts do, and sends one mail for the whole file (contract 13.88)', async () => {
  const [one, other] = [await addStaff(app), await addStaff(app)];
  await applyNew([shop, till]);
  const added = await listAudit(app.db);
  const by = { by: 'cli', operator: 'Olga', systemUser: expect.any(String) };
  expect(added).toEqual([
    expect.objectContaining({
      ...{ type: 'staff.add_client', client: 'shop', why: 'commit 1a2b3c' },
      details: {
        ...{ ...by, client: 'shop' },
        now: {
          ...{ kind: 'hand-off', title: 'The shop', callback_url: callback, login_url: null },
          ...{ events_url: null, listed: ['everybody'], roles: ['merchant'], factor: 'optional' },
        },
      },
    }),
    expect.objectContaining({ type: 'staff.add_client', client: 'till' }),
  ]);
  await applyNew(
    [
      { ...shop, title: 'Other' },
      { name: 'third', callback },
    ],
    '--prune',
  );
  expect((await listAudit(app.db)).slice(2)).toEqual([
    expect.objectContaining({
      type: 'staff.set_client',
      details: { ...by, client: 'shop', was: { title: 'The shop' }, now: { title: 'Other' } },
    }),
    expect.objectContaining({ type: 'staff.add_client', client: 'third' }),
    expect.objectContaining({ type: 'staff.turn_client_off', client: 'till' }),
  ]);
  const mails = await listClientMails(app.db);
  for (const { id } of [one, other])
    expect(mails.filter((mail) => mail.user_id === id)).toEqual([
      { user_id: id, what: 'apply', client: 'added shop, till' },
      { user_id: id, what: 'apply', client: 'added third; changed shop; turned off till' },
    ]);
});

it('tells administrators in words what commands did to clients (contract 13.88 and 13.142)', async () => {
  const { email } = await addStaff(app);
  const settings = {
    SSO_CLIENTS: 'third',
    SSO_THIRD_CALLBACK_URL: callback,
    SSO_THIRD_SECRET: 'kF6nZ0qLr3vXs9yTb2mWc5hJd8gPe1uA',
  };
  await applyNew([shop, till]);
  await runCli(app.databaseUrl, ['client:adopt', 'third', ...why], '', 'test', settings);
  await runCli(app.databaseUrl, ['client:rebind', '--from', app.config.issuer, ...why], '', 'test', {
    IDENTITY_ISSUER: 'http://localhost:3999',
  });
  const texts = await vi.waitFor(async () => {
    const { rows } = await sql<{ text: string }>`select kept_text as text from mails
      where recipient = ${email} and kept_text is not null order by created_at, id`.execute(app.db);
    expect(rows).toHaveLength(3);
    return rows.map(({ text }) => text);
  }, 10_000);
  expect(texts[0]).toContain('Clients were changed from a file: added shop, till.');
  expect(texts[1]).toContain(
    'The client third was copied from the settings into the database, with its secrets.',
  );
  expect(texts[2]).toContain(
    'Clients were moved from another address of this service to this one: shop, third, till.',
  );
  for (const text of texts) expect(text).not.toMatch(/idsec_|kF6nZ0|The shop|commit 1a2b3c/);
});

it('leaves a secret only in its file, and sealed (contract 13.21 and 13.85)', async () => {
  await addStaff(app);
  const first = await applyNew([shop, till], '--json');
  const outputs = [first, await apply([shop, till], '--json')];
  const secrets = [...(await readSecrets(first.secrets)).values()];
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(app.db);
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{
        text: string | null;
      }>`select string_agg(t::text, '|') as text from ${sql.table(name)} t`.execute(app.db);
      return rows[0]?.text ?? '';
    }),
  );
  texts.push(...outputs.flatMap(({ out, err }) => [out, err]), JSON.stringify(app.logged));
  expect(secrets).toHaveLength(2);
  for (const secret of secrets)
    for (const form of [secret, secret.slice(6, 49), Buffer.from(secret).toString('hex')])
      for (const text of texts) expect(text.includes(form)).toBe(false);
});

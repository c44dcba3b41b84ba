import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { inRolledBackTransaction } from '../../db/postgres/transactions.ts';
import { shadowTables } from '../../db/shadow-tables.ts';
import { findHolder } from '../../db/tables/users.ts';
import { dryRunImport } from '../../server/marketplace/import.ts';
import { openApp } from '../support/app/app.ts';
import { expectRefused, runCli } from '../support/app/cli.ts';
import { run } from '../support/app/process.ts';
import { countRows, digestRows, openFreshDatabase } from '../support/database/database.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { insertPeople, profileOf, writeLines } from '../support/marketplace/imports.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { listTables } from '../support/people/leaving.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const database = shared(openFreshDatabase);
const folder = await sharedFolder();
beforeAll(async () => {
  await insertPeople(database.db, [
    { key: 'known' },
    { key: 'edited', isEditedHere: true },
    { key: 'own', hasPassword: true },
    { key: 'mover' },
    { key: 'crm', externalId: null, isProved: false },
    { key: 'crm-2', externalId: null },
    { key: 'typed', isTyped: true },
    { key: 'typed-2', isTyped: true },
    { key: 'secret', externalId: null, hasPassword: true },
    { key: 'sleeper', isSleeping: true },
    { key: 'rival' },
    { key: 'boss', role: 'manager' },
    { key: 'gone', isSuspended: true },
    { key: 'keeper', externalId: null },
  ]);
  await sql`insert into reserved_addresses (email, user_id, expires_at)
    select 'former@example.test', id, now() + interval '1 day' from users where name = 'User keeper'`.execute(
    database.db,
  );
});

const at = (day: number) => `2026-01-${String(day).padStart(2, '0')}T00:00:00.000Z`;
const updated = (line: number, id: string, more: object = {}) => ({
  line,
  id,
  kind: 'updated',
  changed: {},
  kept: {},
  ...more,
});
const refused = (line: number, id: string, reason: string) => ({ line, id, kind: 'refused', reason });

const cases: [line: unknown, result: object | undefined][] = [
  [profileOf('fresh'), { line: 1, id: 'fresh', kind: 'created' }],
  // These lines need the person that the first line creates.
  [
    profileOf('fresh', { name: 'Newer', profile_updated_at: at(3) }),
    updated(2, 'fresh', { changed: { name: { from: 'User fresh', to: 'Newer' } } }),
  ],
  [profileOf('fresh', { name: 'Older' }), { line: 3, id: 'fresh', kind: 'unchanged' }],
  [profileOf('twin', { email: 'fresh@example.test' }), refused(4, 'twin', 'email_in_use')],
  [
    profileOf('known', {
      email: 'moved@example.test',
      name: 'New name',
      role: 'merchant',
      account: { name: 'Shop', capabilities: ['sell_products', 'sell_dreams'] },
    }),
    updated(5, 'known', {
      changed: {
        email: { from: 'known@example.test', to: 'moved@example.test' },
        name: { from: 'User known', to: 'New name' },
        'account.name': { from: 'User known', to: 'Shop' },
        'account.verified': { from: false, to: true },
        'account.capabilities': { from: [], to: ['sell_products'] },
      },
    }),
  ],
  // Line 6 gets an email address that an earlier line has freed. Line 7 asks for one that an earlier line has got.
  [profileOf('heir', { email: 'known@example.test' }), { line: 6, id: 'heir', kind: 'created' }],
  [profileOf('late', { email: 'moved@example.test' }), refused(7, 'late', 'email_in_use')],
  [
    profileOf('edited', { name: 'Not this', account: { name: 'Nor this' } }),
    updated(8, 'edited', { kept: { name: 'edited_here', 'account.name': 'edited_here' } }),
  ],
  // The file gives the names that the person has, so the report lists no name as `kept`.
  [
    profileOf('edited', { profile_updated_at: at(3), account: { name: 'User edited' } }),
    updated(9, 'edited'),
  ],
  [profileOf('own', { email: 'else@example.test' }), updated(10, 'own', { kept: { email: 'own_login' } })],
  [
    profileOf('mover', { email: 'else@example.test', email_verified: false }),
    updated(11, 'mover', { kept: { email: 'not_verified' } }),
  ],
  [
    profileOf('mover', { email: 'own@example.test', profile_updated_at: at(3) }),
    updated(12, 'mover', { kept: { email: 'email_in_use' } }),
  ],
  [
    profileOf('mover', { email: 'former@example.test', profile_updated_at: at(4) }),
    updated(13, 'mover', { kept: { email: 'email_in_use' } }),
  ],
  [
    profileOf('crm'),
    {
      line: 14,
      id: 'crm',
      kind: 'linked',
      changed: { email_verified: { from: false, to: true } },
      kept: {},
    },
  ],
  [profileOf('typed'), updated(15, 'typed', { changed: { email_verified: { from: false, to: true } } })],
  [
    profileOf('typed-2', { email: 'crm-2@example.test' }),
    {
      line: 16,
      id: 'typed-2',
      kind: 'linked',
      changed: { name: { from: 'User crm-2', to: 'User typed-2' } },
      kept: {},
      removed: 'typed-2@example.test',
    },
  ],
  [
    profileOf('unproved', { email: 'secret@example.test', email_verified: false }),
    { line: 17, id: 'unproved', kind: 'created' },
  ],
  [profileOf('secret'), refused(18, 'secret', 'password_to_be_proved')],
  [profileOf('sleeper'), refused(19, 'sleeper', 'password_to_be_proved')],
  [profileOf('back', { email: 'former@example.test' }), refused(20, 'back', 'password_to_be_proved')],
  [profileOf('boss'), refused(21, 'boss', 'admin_not_allowed')],
  [profileOf('gone'), refused(22, 'gone', 'account_suspended')],
  ['', undefined],
  ['not json', { line: 24, kind: 'refused', reason: 'malformed: not JSON' }],
  [profileOf('nameless', { name: ' ' }), { line: 25, kind: 'refused', reason: 'malformed: name' }],
  [
    profileOf('later', { profile_updated_at: '2999-01-01T00:00:00.000Z' }),
    { line: 26, kind: 'refused', reason: 'malformed: profile_updated_at in the future' },
  ],
];

const summary = {
  created: 3,
  linked: 2,
  updated: 9,
  unchanged: 1,
  refused: 10,
  refused_by: {
    account_suspended: 1,
    admin_not_allowed: 1,
    email_in_use: 2,
    malformed: 3,
    password_to_be_proved: 3,
  },
  kept_by: {
    'account.name: edited_here': 1,
    'email: email_in_use': 2,
    'email: not_verified': 1,
    'email: own_login': 1,
    'name: edited_here': 1,
  },
};

const parseLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a dry run', () => {
  const file = () => join(folder, 'cases.ndjson');
  const results = () => cases.flatMap(([, result]) => (result ? [result] : []));
  beforeAll(() =>
    writeLines(
      file(),
      cases.map(([line]) => line),
    ),
  );
  const digestAll = async () => digestRows(database.db, await listTables(database.db));

  it('says of each line what it would do, and changes nothing (contract 6.33 and 11.29)', async () => {
    const before = await digestAll();
    const { code, out, err } = await runCli(database.url, ['import', file(), '--dry-run', '--json']);
    expect([code, err]).toEqual([0, '']);
    expect(parseLines(out)).toEqual([...results(), { summary }]);
    expect(await digestAll()).toBe(before);
    await expect(readFile(`${file()}.refused.ndjson`)).rejects.toThrow('ENOENT');
  });

  const options = {
    name: 'people.ndjson',
    config: { production: false },
    now: () => new Date(),
    isStopped: () => false,
  };

  it('does so 16 times at once', async () => {
    const before = await digestAll();
    const { db, close } = connect(database.url, { poolSize: 16 });
    const runs = Array.from({ length: 16 }, async () => {
      const said: unknown[] = [];
      const onBatch = async (batch: unknown[]) => void said.push(...batch);
      const lines = (await readFile(file(), 'utf8')).split('\n').values();
      await dryRunImport(db, toAsync(lines), { ...options, onBatch });
      return said;
    });
    for (const said of await Promise.all(runs).finally(close)) expect(said).toEqual(results());
    expect(await digestAll()).toBe(before);
  });

  it('does so on a connection that has prepared the statements for the real tables', async () => {
    const { db, close } = connect(database.url);
    // The connection has had temporary tables before, as one of a pooler may.
    await sql`create temporary table others ()`.execute(db);
    const find = () => findHolder(db, 'known@example.test');
    for (let times = 0; times < 7; times++) expect(await find()).toBeDefined();
    const said: unknown[] = [];
    const onBatch = async (batch: unknown[]) => void said.push(...batch);
    const lines = [JSON.stringify(profileOf('known', { email: 'moved@example.test' }))];
    // This line makes the import look for the holder of that address, by a statement that the connection has prepared.
    lines.push(JSON.stringify(profileOf('mover', { email: 'known@example.test' })));
    for (let times = 0; times < 2; times++) {
      await dryRunImport(db, toAsync(lines), { ...options, onBatch });
      expect(await find()).toBeDefined();
    }
    await close();
    const move = (from: string, to: string) => ({
      changed: { email: { from: `${from}@example.test`, to: `${to}@example.test` } },
    });
    const once = [updated(1, 'known', move('known', 'moved')), updated(2, 'mover', move('mover', 'known'))];
    expect(said).toEqual([...once, ...once]);
  });

  async function* toAsync(lines: Iterable<string>) {
    for (const line of lines) yield new TextEncoder().encode(line);
  }

  it('says it in words, with what people could have chosen quoted', async () => {
    const { out } = await runCli(database.url, ['import', file(), '--dry-run']);
    const lines = out.split('\n');
    expect(lines.slice(0, 4)).toEqual([
      '1 fresh created',
      '2 fresh updated: name "User fresh" → "Newer"',
      '3 fresh unchanged',
      '4 twin refused: email_in_use',
    ]);
    expect(lines[7]).toBe('8 edited updated: name kept: edited_here, account.name kept: edited_here');
    expect(lines[15]).toBe(
      '16 typed-2 linked: name "User crm-2" → "User typed-2", removes the user with the typed address "typed-2@example.test"',
    );
    expect(lines.slice(-14)).toEqual([
      '3 created, 2 linked, 9 updated, 1 unchanged, 10 refused.',
      'Refused:',
      '  1 account_suspended',
      '  1 admin_not_allowed',
      '  2 email_in_use',
      '  3 malformed',
      '  3 password_to_be_proved',
      'Kept as it is here:',
      '  1 account.name: edited_here',
      '  2 email: email_in_use',
      '  1 email: not_verified',
      '  1 email: own_login',
      '  1 name: edited_here',
      '',
    ]);
  });

  it('is what the import then does, byte for byte (contract 2.36, 6.6 and 6.33)', async () => {
    const [predicted, done] = [join(folder, 'predicted'), join(folder, 'done')];
    const dryRun = await runCli(database.url, ['import', file(), '--dry-run', '--report', predicted]);
    const real = await runCli(database.url, ['import', file(), '--report', done]);
    expect([dryRun.code, real.code]).toEqual([0, 0]);
    expect(await readFile(done, 'utf8')).toBe(await readFile(predicted, 'utf8'));
    expect(real.out).toBe(dryRun.out);
    expect(dryRun.out).toContain('3 created, 2 linked, 9 updated, 1 unchanged, 10 refused.\nRefused:\n');
    const { rows } = await sql<{ id: string; email: string; name: string }>`
      select external_id as id, email, name from users u join external_links l on l.user_id = u.id
      where external_id in ('fresh', 'heir', 'known', 'typed-2') order by 1`.execute(database.db);
    expect(rows).toEqual([
      { id: 'fresh', email: 'fresh@example.test', name: 'Newer' },
      { id: 'heir', email: 'known@example.test', name: 'User heir' },
      { id: 'known', email: 'moved@example.test', name: 'New name' },
      { id: 'typed-2', email: 'crm-2@example.test', name: 'User typed-2' },
    ]);
    const again = await runCli(database.url, ['import', file(), '--dry-run']);
    expect(again.out).toContain('0 created, 0 linked, 0 updated, 15 unchanged, 10 refused.');
  });
});

describe('the tables that a dry run works on', () => {
  const people = `'known@example.test'`;

  it.each([
    ['a row is written', `insert into public.nonces values ('a', 'sixteen characters', now())`],
    ['a row is changed', `update public.users set name = 'x' where email = ${people}`],
    ['a row is deleted', `delete from public.external_links`],
    ['a row is locked', `select from public.users for update`],
    ['a number is used up', `select nextval('public.reserved_addresses_number_seq')`],
    ['a table is made', 'create table public.another ()'],
  ])('are the only ones: Postgres refuses it where %s', async (_, statement) => {
    const { db, close } = connect(database.url);
    const attempt = inRolledBackTransaction(db, async (trx) => {
      await shadowTables(trx);
      await sql.raw(statement).execute(trx);
    });
    await expect(attempt.finally(close)).rejects.toMatchObject({ code: '25006' });
  });

  it('hold each person whom a line can be about, and all others of their account, once', async () => {
    await insertPeople(database.db, [{ key: 'shares' }, { key: 'shares-too', externalId: null }]);
    await sql`update users set account_id = (select account_id from users where name = 'User shares')
      where name = 'User shares-too'`.execute(database.db);
    const { db, close } = connect(database.url);
    await inRolledBackTransaction(db, async (trx) => {
      const copy = await shadowTables(trx);
      const concerned = { provider: 'marketplace', externalIds: ['shares'], emails: ['keeper@example.test'] };
      await copy(concerned);
      await sql`update users set name = 'Changed'`.execute(trx);
      await copy({ ...concerned, emails: ['former@example.test', 'shares-too@example.test'] });
      const { rows } = await sql`select email, name from users order by name, email collate "C"`.execute(trx);
      expect(rows).toEqual(
        ['keeper', 'shares-too', 'shares'].map((key) => ({ email: `${key}@example.test`, name: 'Changed' })),
      );
      for (const [table, count] of Object.entries({
        accounts: 2,
        external_links: 1,
        reserved_addresses: 1,
        audit_events: 0,
        mails: 0,
      }))
        expect([table, await countRows(trx, table)]).toEqual([table, count]);
    }).finally(close);
  });
});

it('a dry run holds up nobody whom its lines are about', async () => {
  const app = await openApp();
  const pipe = join(folder, 'pipe');
  await once(spawn('mkfifo', [pipe]), 'close');
  try {
    const ids = Array.from({ length: 100 }, (_, n) => `busy-${n}`);
    await insertPeople(
      app.db,
      ids.map((key) => ({ key })),
    );
    const dryRun = run('node', ['build/service/cli.js', 'import', pipe, '--dry-run'], {
      DATABASE_URL: app.databaseUrl,
    });
    const input = await open(pipe, 'w');
    const lines = [...ids.map((id) => profileOf(id, { name: 'Later' })), ''];
    await input.write(lines.map((line) => line && JSON.stringify(line)).join('\n'));
    // The first batch is done. Its transaction is still open.
    await vi.waitFor(() => expect(dryRun.output()).toContain('100 busy-99 updated'), 20_000);
    const profileUpdatedAt = new Date('2026-01-03T00:00:00Z');
    for (const id of ids.slice(0, 5)) {
      const handOff = { id, name: 'By hand-off', profileUpdatedAt };
      expect((await openHandOff(app, await buildHandOff(app, handOff))).status).toBe(303);
    }
    await input.write(
      `${JSON.stringify(profileOf('busy-0', { name: 'Last', profile_updated_at: at(4) }))}\n`,
    );
    await input.close();
    expect(await dryRun.exited, dryRun.output()).toBe(0);
    // The dry run sees one state of the database from its start to its end.
    expect(dryRun.output()).toContain('101 busy-0 updated: name "Later" → "Last"');
    const { rows } = await sql<{ name: string; n: number }>`select name, count(*)::int as n from users
      where email like 'busy-%' and name !~ '^User' group by 1`.execute(app.db);
    expect(rows).toEqual([{ name: 'By hand-off', n: 5 }]);
  } finally {
    await app.close();
  }
});

describe('in one sentence a dry run says', () => {
  const file = () => join(folder, 'one.ndjson');
  beforeAll(() => writeLines(file(), [profileOf('one')]));

  it('that the database has to be migrated, which it does not do itself', async () => {
    const empty = await emptyDatabase(inject('templateUrl'));
    const outcome = await runCli(empty.url, ['import', file(), '--dry-run']);
    expectRefused(
      outcome,
      /^The database does not have the current schema: run the command "migrate" first\.\n$/,
    );
    const { db, close } = connect(empty.url);
    expect(await listTables(db).finally(close)).toEqual([]);
    await empty.drop();
  });

  it('that it cannot write its report', async () => {
    const outcome = await runCli(database.url, [
      'import',
      file(),
      '--dry-run',
      '--report',
      '/nowhere/report',
    ]);
    expectRefused(
      outcome,
      /^Cannot write the file \/nowhere\/report: there is no such folder \(ENOENT\)\.\n$/,
    );
  });

  it('that its report would take the place of what it reads', async () => {
    const outcome = await runCli(database.url, ['import', file(), '--dry-run', '--report', file()]);
    expectRefused(outcome, /^The file \S+one\.ndjson is the one to be read\.\n$/);
    expect(await readFile(file(), 'utf8')).toContain('"one"');
  });

  it('that nobody reads it any more', async () => {
    const many = join(folder, 'many.ndjson');
    await writeLines(
      many,
      Array.from({ length: 2_000 }, (_, n) => profileOf(`many-${n}`)),
    );
    const { child, exited, output } = run('node', ['build/service/cli.js', 'import', many, '--dry-run'], {
      DATABASE_URL: database.url,
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await exited).toBe(1);
    expect(output()).toMatch(/Nothing reads the output any more\.\n$/);
  });
});

// Two versions work on one database while instances are replaced, and after a return to the older version (contract 9.169). So
// migrations only add, and an older version starts despite what a newer version has added (docs/inside/recipes/migration.md).
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { migrations } from '../../db/migrations/list.ts';
import { folded } from '../../db/migrations/m100-baseline.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { sign } from '../../server/sso/hmac.ts';
import { openApp } from '../support/app/app.ts';
import { findVersionBefore } from '../support/app/version-before.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { type Catalog, findBreaks, readCatalog } from '../support/database/catalog.ts';
import {
  buildMigrationList,
  digestMigrations,
  digestOf,
  findChanged,
  migrationListFile,
  readLanded,
} from '../support/database/migration-list.ts';
import { cloneDatabase, connect, emptyDatabase, withOptions } from '../support/database/postgres.ts';
import { buildHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

// Each migration that removes something on purpose: what it removes, in the test's words, and the version from which on nothing
// uses that. An example: `{ 'm199-no-nickname': { 'users.nickname is gone': 'unused since 1.1.0' } }`.
const narrowing: Record<string, Record<string, string>> = {
  'm112-openid': {
    [`clients.clients_openid_whole may refuse a row (CHECK (
CASE kind
    WHEN 'openid'::text THEN ((cardinality(redirect_uris) > 0) AND (post_logout_uris IS NOT NULL) AND (events_url IS NULL) AND (pkce = ANY (ARRAY['required'::text, 'optional'::text, 'state-only'::text])) AND (auth = ANY (ARRAY['secret'::text, 'none'::text])) AND ((auth = 'secret'::text) OR (pkce = 'required'::text)))
    ELSE (num_nonnulls(redirect_uris, post_logout_uris, back_channel_uri, pkce, auth, challenge_at) = 0)
END))`]: 'no version before has written a row of the kind openid, or one of these columns',
  },
};

type Step = { name: string; before: Catalog; after: Catalog };

async function runOneByOne(): Promise<Step[]> {
  const { url, drop } = await emptyDatabase(inject('templateUrl'));
  const { db, close } = connect(url);
  try {
    const steps: Step[] = [];
    let before = await readCatalog(db);
    for (const [name, { up }] of Object.entries(migrations)) {
      await up(db as never);
      const after = await readCatalog(db);
      steps.push({ name, before, after });
      before = after;
    }
    return steps;
  } finally {
    await close();
    await drop();
  }
}

describe('a migration', () => {
  it('comes after all that have landed, also as Kysely sorts their names', async () => {
    const names = Object.keys(migrations);
    expect(names, 'run npm run schema').toEqual(Object.keys(await readLanded()));
    expect(names).toEqual([...names].sort());
    const numbers = names.map((name) => Number(/^m(\d{3})-[a-z-]+$/.exec(name)?.[1]));
    expect(numbers).toEqual(numbers.map((_, place) => 100 + place));
  });

  it('is in db/migrations/list.ts, which npm run schema writes', async () => {
    const list = await readFile(migrationListFile, 'utf8');
    expect(await buildMigrationList(), 'run npm run schema').toBe(list);
  });

  it('never changes once it has landed', async () => {
    expect(findChanged(await readLanded(), await digestMigrations())).toEqual([]);
    const before = await findVersionBefore();
    if (!before) return;
    const read = async (path: string) =>
      (await run('git', ['show', `${before}:${path}`], { cwd: root })).stdout;
    const list = await read('db/migrations/list.ts');
    const now = await digestMigrations();
    for (const [, name = ''] of list.matchAll(/from '.\/(.+)\.ts'/g)) {
      if (folded.includes(name)) continue;
      expect(digestOf(await read(`db/migrations/${name}.ts`)), name).toBe(now[name]);
    }
  });

  it('only adds, so that the version before goes on working', async () => {
    const steps = await runOneByOne();
    expect(Object.keys(steps.at(-1)?.after ?? {}).length).toBeGreaterThan(15);
    const names = steps.map(({ name }) => name);
    for (const { name, before, after } of steps)
      expect(findBreaks(before, after), name).toEqual(Object.keys(narrowing[name] ?? {}));
    expect(names).toEqual(expect.arrayContaining(Object.keys(narrowing)));
  });
});

it('a migration lets requests pass while it waits for a table that a backup reads', async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const { db, close } = connect(url, { poolSize: 3 });
  const told: string[] = [];
  const all: Record<string, Pick<(typeof migrations)['m100-baseline'], 'up'>> = migrations;
  try {
    all['m999-phones'] = {
      up: async (trx) => void (await sql`alter table users add column phone text`.execute(trx)),
    };
    let migrating: Promise<void> | undefined;
    await db.transaction().execute(async (backup) => {
      await sql`lock table users in access share mode`.execute(backup);
      migrating = migrate(url, (what) => told.push(what));
      await vi.waitFor(() => expect(told.length).toBeGreaterThanOrEqual(2), 30_000);
      // The migration tries again and again. Each try must end, because nobody can read that table while a try waits.
      for (let n = 0; n < 5; n++) await sql`select from users`.execute(db);
    });
    await migrating;
    expect(new Set(told)).toEqual(new Set(['a table that another transaction holds']));
    expect((await readCatalog(db)).users?.columns).toHaveProperty('phone');
  } finally {
    delete all['m999-phones'];
    await close();
    await drop();
  }
});

it('a migration in a deadlock with a request runs again, and the request succeeds (contract 9.426)', async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const { db, close } = connect(url, { poolSize: 3 });
  const told: string[] = [];
  const all: Record<string, Pick<(typeof migrations)['m100-baseline'], 'up'>> = migrations;
  let tellHeld = () => {};
  const held = new Promise<void>((resolve) => {
    tellHeld = resolve;
  });
  const isWaiting = sql`select from pg_locks where not granted and relation = 'accounts'::regclass
    and database = (select oid from pg_database where datname = current_database())`;
  try {
    await sql`alter database ${sql.id(new URL(url).pathname.slice(1))} set deadlock_timeout = '100ms'`.execute(
      db,
    );
    all['m999-phones'] = {
      up: async (trx) => {
        await sql`alter table accounts add column phone text`.execute(trx);
        tellHeld();
        if (told.length === 0)
          await vi.waitFor(async () => expect((await isWaiting.execute(db)).rows).toHaveLength(1), 10_000);
        await sql`alter table users add column phone text`.execute(trx);
      },
    };
    let migrating: Promise<void> | undefined;
    await db.transaction().execute(async (request) => {
      // Postgres ends the first of the two that looks for a deadlock.
      await sql`set local deadlock_timeout = '1min'`.execute(request);
      await sql`update users set name = name`.execute(request);
      migrating = migrate(url, (what) => told.push(what));
      await held;
      await sql`update accounts set name = name`.execute(request);
    });
    await migrating;
    expect(new Set(told)).toEqual(new Set(['a table that another transaction holds']));
    expect((await readCatalog(db)).users?.columns).toHaveProperty('phone');
  } finally {
    delete all['m999-phones'];
    await close();
    await drop();
  }
});

it('a migration that fails changes nothing, those before it stay, and the next try does the rest (contract 9.427)', async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const { db, close } = connect(url);
  const all: Record<string, Pick<(typeof migrations)['m100-baseline'], 'up'>> = migrations;
  const add = (name: string) => async (trx: Kysely<unknown>) =>
    void (await sql`alter table users add column ${sql.id(name)} text`.execute(trx));
  const listAdded = async () =>
    Object.keys((await readCatalog(db)).users?.columns ?? {}).filter((name) => /^[abc]$/.test(name));
  try {
    all['m997-a'] = { up: add('a') };
    all['m998-b'] = {
      up: async (trx) => {
        await add('b')(trx);
        throw new Error('half way');
      },
    };
    all['m999-c'] = { up: add('c') };
    await expect(migrate(url)).rejects.toThrow('half way');
    expect(await listAdded()).toEqual(['a']);
    all['m998-b'] = { up: add('b') };
    await Promise.all(Array.from({ length: 16 }, () => migrate(url)));
    expect(await listAdded()).toEqual(['a', 'b', 'c']);
  } finally {
    for (const name of ['m997-a', 'm998-b', 'm999-c']) delete all[name];
    await close();
    await drop();
  }
});

it('an empty database gets its tables in the first schema of the search path, where its functions look for them', async () => {
  const { url, drop } = await emptyDatabase(inject('templateUrl'));
  const { db, close } = connect(url);
  try {
    await sql`create schema "Else Where"`.execute(db);
    await migrate(withOptions(url, '-c search_path="Else\\ Where",public'));
    const { rows } = await sql`select distinct c.path, to_regclass('users') is null as is_elsewhere
      from pg_proc, unnest(proconfig) c(path) where c.path like 'search_path=%' and pronamespace > 16383`.execute(
      db,
    );
    expect(rows).toEqual([{ path: 'search_path="Else Where", pg_temp', is_elsewhere: true }]);
  } finally {
    await close();
    await drop();
  }
});

describe('npm run schema', () => {
  const landed = { 'm001-first': 'a', 'm002-second': 'b' };
  it.each([
    ['m002-second', 'has changed', { ...landed, 'm002-second': 'c' }],
    ['m001-first', 'is gone', { 'm002-second': 'b' }],
    ['m001-before', 'is new, and comes before m002-second', { ...landed, 'm001-before': 'c' }],
  ])('refuses that %s %s', (name, what, now) => {
    expect(findChanged(landed, now)).toEqual([expect.stringContaining(`The migration ${name} ${what}`)]);
  });

  it('takes one that is new and comes last', () => {
    expect(findChanged(landed, { ...landed, 'm003-third': 'c' })).toEqual([]);
  });
});

describe('the test of migrations', () => {
  let url: string;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    ({ url, drop } = await emptyDatabase(inject('templateUrl')));
    await migrate(url);
  });
  afterAll(() => drop());

  /** Returns what `findBreaks` finds in a migration, which is then rolled back. */
  async function breaksOf(statements: string): Promise<string[]> {
    const { db, close } = connect(url);
    try {
      const before = await readCatalog(db);
      await sql`begin`.execute(db);
      await sql.raw(statements).execute(db);
      const after = await readCatalog(db);
      await sql`rollback`.execute(db);
      return findBreaks(before, after);
    } finally {
      await close();
    }
  }

  it.each([
    ['drop table launches', 'launches is gone'],
    ['alter table launches rename to visits', 'launches is gone'],
    ['drop table launches; create view launches as select 1 as client', 'launches is gone'],
    ['alter table mails drop column last_error', 'mails.last_error is gone'],
    ['alter table users rename column name to full_name', 'users.name is gone'],
    ['alter table mails alter column attempts type smallint', 'mails.attempts was integer and is smallint'],
    [
      'alter table rate_limits alter column key type varchar(64)',
      'rate_limits.key was character varying(255) and is character varying(64)',
    ],
    ['alter table mails alter column last_error set not null', 'mails.last_error must not be null any more'],
    ['alter table users alter column role drop default', 'users.role has no default any more'],
    ['alter table launches add column via text not null', 'launches.via is new, and must be given'],
    [
      'create unique index one_session on sessions (user_id)',
      'sessions.one_session may refuse a row (CREATE UNIQUE INDEX one_session ON public.sessions USING btree (user_id))',
    ],
    [
      'create unique index one_name on users (lower(name))',
      'users.one_name may refuse a row (CREATE UNIQUE INDEX one_name ON public.users USING btree (lower(name)))',
    ],
    [
      "alter table users add column tag text default 'x'; create unique index one_tag on users (tag)",
      'users.one_tag may refuse a row (CREATE UNIQUE INDEX one_tag ON public.users USING btree (tag))',
    ],
    ['alter table nonces drop constraint nonces_pkey', 'nonces.nonces_pkey is gone'],
    ['alter table nonces rename constraint nonces_pkey to nonces_key', 'nonces.nonces_pkey is gone'],
    [
      "alter table users add constraint short check (length(name) < 100 or email = '')",
      "users.short may refuse a row (CHECK (((length(name) < 100) OR (email = ''::text))))",
    ],
    [
      `alter table invoices drop constraint invoices_status_known,
        add constraint invoices_status_known check (status in ('open', 'paid'))`,
      "invoices.invoices_status_known may refuse a row (CHECK ((status = ANY (ARRAY['open'::text, 'paid'::text]))))",
    ],
    [
      `alter table invoices drop constraint invoices_status_known,
        add constraint invoices_status_known check (status in ('open', 'paid', 'canceled'))`,
      "invoices.invoices_status_known may refuse a row (CHECK ((status = ANY (ARRAY['open'::text, 'paid'::text, 'canceled'::text]))))",
    ],
    // In these cases the check lists more values, but the list is only a part of the check, or is about another column.
    [
      `alter table invoices drop constraint invoices_status_known,
        add constraint invoices_status_known check (status in ('open', 'paid', 'void', 'lost') and plan <> '')`,
      "invoices.invoices_status_known may refuse a row (CHECK (((status = ANY (ARRAY['open'::text, 'paid'::text, 'void'::text, 'lost'::text])) AND (plan <> ''::text))))",
    ],
    [
      `alter table invoices drop constraint invoices_status_known,
        add constraint invoices_status_known check (plan in ('open', 'paid', 'void', 'lost'))`,
      "invoices.invoices_status_known may refuse a row (CHECK ((plan = ANY (ARRAY['open'::text, 'paid'::text, 'void'::text, 'lost'::text]))))",
    ],
    [
      `alter table invoices drop constraint invoices_status_known,
        add constraint invoices_status_known check (status not in ('open', 'paid', 'void', 'lost')) not valid`,
      "invoices.invoices_status_known may refuse a row (CHECK ((status <> ALL (ARRAY['open'::text, 'paid'::text, 'void'::text, 'lost'::text]))) NOT VALID)",
    ],
    [
      `alter table invoices drop constraint invoices_status_known,
        add constraint invoices_status_known check (status in ('open'', ''paid', 'void'))`,
      "invoices.invoices_status_known may refuse a row (CHECK ((status = ANY (ARRAY['open'', ''paid'::text, 'void'::text]))))",
    ],
    [
      `alter table invoices drop constraint invoices_unit_amount_positive,
        add constraint invoices_unit_amount_positive check (unit_amount > 0)`,
      'invoices.invoices_unit_amount_positive may refuse a row (CHECK ((unit_amount > 0)))',
    ],
    [
      `alter table accounts drop constraint accounts_capabilities_known,
        add constraint accounts_capabilities_known check (capabilities <@ array['sell_products', 'sell_services'])`,
      "accounts.accounts_capabilities_known may refuse a row (CHECK ((capabilities <@ ARRAY['sell_products'::text, 'sell_services'::text])))",
    ],
    [
      'alter table launches add constraint real foreign key (session_id) references sessions',
      'launches.real may refuse a row (FOREIGN KEY (session_id) REFERENCES sessions(id))',
    ],
  ])('refuses one that says: %s', async (statements, found) => {
    expect(await breaksOf(statements)).toContain(found);
  });

  it.each([
    'create table phones (user_id uuid not null references users, number text not null unique check (number like $$+%$$))',
    'alter table users add column phone text check (length(phone) < 20)',
    'alter table users add column phone text; create unique index users_phone_key on users (phone)',
    'alter table users add column is_new boolean not null default true',
    'alter table sessions add column serial bigint generated always as identity',
    'alter table launches add column invoice bigint references invoices',
    'create index mails_kind_idx on mails (kind)',
    'drop index mails_user_id_idx',
    'alter table mails alter column kind drop not null',
    'alter table invoices drop constraint invoices_status_known',
    `alter table invoices drop constraint invoices_status_known,
      add constraint invoices_status_known check (status in ('lost', 'open', 'paid', 'void', 'it''s, gone'))`,
    `do $$ begin execute (
      select format('alter table accounts drop constraint %1$s, add constraint %1$s %2$s', conname,
        replace(pg_get_constraintdef(oid), 'ARRAY[', 'ARRAY[''sell_anything''::text, '))
      from pg_constraint where conname = 'accounts_capabilities_known'); end $$`,
  ])('allows one that says: %s', async (statements) => {
    expect(await breaksOf(statements)).toEqual([]);
  });
});

describe('an instance of the version before', () => {
  const app = shared(openApp);

  it('starts on a database that a newer one has migrated, and works', async () => {
    await sql`alter table users add column phone text`.execute(app.db);
    await sql`create table phones (number text not null)`.execute(app.db);
    await sql`insert into kysely_migration values ('2999-01-01-phones', '2999-01-01T00:00:00.000Z')`.execute(
      app.db,
    );
    const { send, login } = await app.startInstance();
    expect((await send('/readyz')).status).toBe(200);
    // The instance that was running during the migration stays ready, too.
    expect((await app.send('/readyz')).status).toBe(200);
    const cookie = await login('customer@example.test');
    const edit = { cookie, json: { json: { name: 'On The Way Back' } } };
    expect((await send('/trpc/profile.update', edit)).status).toBe(200);
    expect((await send('/sso/launch/marketplace', { cookie })).status).toBe(303);
  });

  it('goes on while a newer one adds a column to each table', async () => {
    const cookie = await app.login('customer@example.test');
    const signup = buildSignup('column', { user: { email: 'customer@example.test', name: 'Customer' } });
    const secret = app.config.clients.get('crm_app')?.secrets[0] ?? '';
    const authorization = `Bearer ${await sign(secret, 'identity events v1 crm_app')}`;
    const round = async () => {
      const statuses = [
        (await sendSignup(app, signup)).status,
        (await app.send('/integrations/crm/contracts', { headers: { authorization } })).status,
        (await app.send('/profile', { cookie, headers: { accept: 'text/html' } })).status,
        (await app.send('/invoices/1', { cookie, headers: { accept: 'text/html' } })).status,
        (await app.send(await buildHandOff(app, { id: 'column' }))).status,
        (await app.send('/forgot-password', { form: { email: 'customer@example.test' } })).status,
      ];
      return statuses.filter((status) => status >= 500);
    };
    // After these rounds, each connection has prepared its statements.
    for (let n = 0; n < 8; n++) expect(await round()).toEqual([]);
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`.execute(app.db);
    for (const { name } of rows)
      await sql`alter table ${sql.table(name)} add column later text`.execute(app.db);
    for (let n = 0; n < 8; n++) expect(await round()).toEqual([]);
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('does not start on one that lacks a migration of its own beside newer ones', async () => {
    await sql`delete from kysely_migration where name = ${Object.keys(migrations).at(-1)}`.execute(app.db);
    await expect(migrate(app.databaseUrl)).rejects.toThrow(/2999-01-01-phones/);
    expect((await app.send('/readyz')).status).toBe(503);
  });
});

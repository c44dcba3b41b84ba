// The command `backup` (contract 9.310 to 9.319).
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, symlinkSync, watch } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { expectRefused, readOutcome } from '../support/app/cli.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import {
  type DebianPostgres,
  hasDebianPostgres,
  startDebianPostgres,
} from '../support/machines/debian-postgres.ts';
import { createDatabaseSample, lastNumbersSample, restoreSample } from '../support/project/samples.ts';
import { shared } from '../support/run/shared.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const timeName = /^\d{8}T\d{6}\.\d{3}Z$/;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'identity-backup-'));
  return () => rm(folder, { recursive: true, force: true });
});

/** Begins a backup into `folder`. The command gets only the environment variables of `env`. */
const begin = (env: Record<string, string>): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [join(root, 'build/service/cli.js'), 'backup', 'backups'], {
    cwd: folder,
    env: { NODE_ENV: 'test', PATH: '/usr/bin:/bin', ...env },
  });
const backUp = (env: Record<string, string>) => readOutcome(begin(env));
const listBackups = () => readdir(join(folder, 'backups')).catch(() => []);

const notRun = hasDebianPostgres ? '' : ' (NOT RUN: there is no Postgres 15 of Debian)';

describe.skipIf(!hasDebianPostgres)(`a backup of a Postgres with a password${notRun}`, () => {
  let postgres: DebianPostgres;
  beforeAll(async () => {
    postgres = await startDebianPostgres();
    const env = { DATABASE_URL: postgres.url };
    const migrate = promisify(execFile)(process.execPath, ['build/service/cli.js', 'migrate'], {
      cwd: root,
      env: { NODE_ENV: 'test', PATH: process.env.PATH, ...env },
    });
    await migrate;
    const { db, close } = connect(postgres.url);
    await sql`insert into accounts (id, name) values (gen_random_uuid(), 'A')`.execute(db);
    await sql`insert into document_series values ('INV-', extract(year from now()), 41, now()),
      ('CN-', extract(year from now()) - 1, 7, now()), ('OLD-', extract(year from now()) - 2, 9, now()),
      ('NONE-', extract(year from now()), 0, now())`.execute(db);
    await sql`update invoice_numbers set last_number = 12`.execute(db);
    await close();
  });
  afterAll(() => postgres?.close());

  it('is made by an address in a file, and restored by the commands of the document into another database (contract 9.310 and 9.314)', async () => {
    const urlFile = join(folder, 'url');
    await writeFile(urlFile, `${postgres.url}\n`);
    const { code, out, err } = await backUp({ DATABASE_URL_FILE: urlFile });
    expect([code, err]).toEqual([0, '']);
    const [name = ''] = await listBackups();
    expect(name).toMatch(timeName);
    const made = join(folder, 'backups', name);
    expect(await readdir(made)).toEqual(['identity.dump', 'last-numbers']);
    const year = new Date().getUTCFullYear();
    const numbers = `--last CN-${year - 1}-0007 INV-${year}-0041 --last-invoice 12`;
    expect(await readFile(join(made, 'last-numbers'), 'utf8')).toBe(`${numbers}\n`);
    expect(out).toMatch(
      new RegExp(
        `^${made}/identity\\.dump is whole: 0\\.\\d MB, as of \\d+ seconds? ago\\.\\nThe last numbers of documents: ${numbers}\\.\\n$`,
      ),
    );
    // Nobody else can read the backup (contract 9.312).
    for (const path of [
      join(folder, 'backups'),
      made,
      join(made, 'identity.dump'),
      join(made, 'last-numbers'),
    ])
      expect((await stat(path)).mode & 0o077, path).toBe(0);

    // Runs the document's script on this machine.
    const shell = (script: string, env: Record<string, string>) =>
      promisify(execFile)(
        'sh',
        [
          '-ec',
          script
            .replaceAll('sudo -u postgres ', '')
            .replaceAll(/\/var\/lib\/identity-backups\/[^/]+/g, made)
            .replaceAll('npm run cli --', `${process.execPath} ${root}build/service/cli.js`),
        ],
        {
          cwd: folder,
          env: { NODE_ENV: 'test', PATH: `/usr/lib/postgresql/15/bin:/usr/bin:/bin`, ...env },
        },
      );
    await shell(createDatabaseSample, postgres.env);
    await shell(restoreSample, postgres.env);
    const { db, close } = connect(postgres.url);
    const read = async () =>
      (
        await sql`select (select count(*)::int from accounts) as accounts,
          (select bool_and(tableowner = 'identity') from pg_tables where schemaname = 'public') as "isOurs",
          (select count(*)::int from audit_events where type = 'database.backed_up') as backups`.execute(db)
      ).rows;
    // The dump holds no record of the backup that made it (contract 9.317).
    expect(await read()).toEqual([{ accounts: 1, isOurs: true, backups: 0 }]);
    await close();
    const restored = await shell(lastNumbersSample, { DATABASE_URL_FILE: urlFile });
    expect(restored.stdout).toContain('The next invoice is number 13. ');
    expect(restored.stdout).not.toMatch(/changed nothing|was given for/);
  });

  it('is told in the audit, and the next one says how old it is (contract 9.310 and 9.317)', async () => {
    const count = async () => {
      const { db, close } = connect(postgres.url);
      const { rows } = await sql<{ details: Record<string, unknown> }>`select details from audit_events
        where type = 'database.backed_up' order by at desc`.execute(db);
      await close();
      return rows.map(({ details }) => details);
    };
    const before = (await count()).length;
    const env = { DATABASE_URL: postgres.url };
    expect((await backUp(env)).code).toBe(0);
    const { out } = await backUp(env);
    expect(out).toMatch(/\nThe one before is \d+ seconds? old: 0\.\d MB\.\n$/);
    expect(await count()).toHaveLength(before + 2);
    const [newest] = await count();
    const [, name = ''] = await listBackups();
    const { size } = await stat(join(folder, 'backups', name, 'identity.dump'));
    expect(newest).toMatchObject({ by: 'cli', bytes: size });
    expect(String(newest?.beganAt).replaceAll(/[-:]/g, '')).toBe(name);
  });

  it('is one of several at once, each whole', async () => {
    const env = { DATABASE_URL: postgres.url };
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => backUp(env)));
    // Two backups in one millisecond would have the same name, so only the first is made.
    const good = outcomes.filter(({ code }) => code === 0).length;
    expect(good).toBeGreaterThan(1);
    const names = await listBackups();
    expect(names).toHaveLength(good);
    for (const name of names) {
      expect(name).toMatch(timeName);
      expect(await readdir(join(folder, 'backups', name))).toEqual(['identity.dump', 'last-numbers']);
    }
  });

  it('is refused in the words of pg_dump, and leaves nothing', async () => {
    const { db, close } = connect(postgres.url);
    await sql`revoke select on accounts from identity`.execute(db);
    try {
      expectRefused(
        await backUp({ DATABASE_URL: postgres.url }),
        /^No backup was made\. .*permission denied for table accounts/,
      );
      expect(await listBackups()).toEqual([]);
    } finally {
      await sql`grant select on accounts to identity`.execute(db);
      await close();
    }
  });

  it('is refused where pg_dump reads the address as that of another database (contract 9.319)', async () => {
    const url = new URL(postgres.url);
    const others = new URL(postgres.url);
    others.pathname = '/others';
    const { db, close } = connect(
      postgres.url.replace(/identity:[^@]*/, `postgres:${postgres.env.PGPASSWORD}`),
    );
    await sql`create database others owner identity`.execute(db);
    await close();
    const other = connect(others.href);
    await sql`create table users (id int)`.execute(other.db);
    await other.close();
    // The service does not know this parameter of a database URL.
    url.searchParams.set('dbname', 'others');
    expectRefused(
      await backUp({ DATABASE_URL: url.href }),
      /^No backup was made\. .*snapshot.*another database than the service\?\n$/s,
    );
    expect(await listBackups()).toEqual([]);
  });

  it('is made by an address with options', async () => {
    const url = new URL(postgres.url);
    url.search = '?options=-c%20search_path%3Dpublic%20-c%20lock_timeout%3D5s';
    expect(await backUp({ DATABASE_URL: url.href })).toMatchObject({ code: 0, err: '' });
  });
});

// The command prefers Debian's folder of version 18, if it exists, to the programs on the PATH.
const hasOwn = existsSync('/usr/lib/postgresql/18/bin/pg_dump');
const instead = hasOwn ? ' (NOT RUN: this machine has one of that version)' : '';

describe.skipIf(hasOwn)(`with programs that stand in for those of Postgres 18${instead}`, () => {
  const database = shared(openFreshDatabase);

  const list = '5; 0 1 TABLE DATA public users identity';
  const write = 'echo half';
  /** Puts scripts in place of pg_dump and pg_restore. The scripts answer `--version` as Postgres does. */
  async function standIn({ version = '18.4', dump = write, restore = `echo '${list}'` } = {}) {
    const bin = join(folder, 'bin');
    await mkdir(bin, { recursive: true });
    for (const [name, body] of [
      ['pg_dump', dump],
      ['pg_restore', restore],
    ] as const) {
      const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo "${name} (PostgreSQL) ${version}"; exit; fi\n${body}\n`;
      await writeFile(join(bin, name), script);
      await chmod(join(bin, name), 0o755);
    }
    return { PATH: `${bin}:/usr/bin:/bin`, DATABASE_URL: database.url };
  }

  it('says which version is needed, where there is another or none (contract 9.313)', async () => {
    expectRefused(
      await backUp(await standIn({ version: '15.18 (Debian 15.18-0+deb12u1)' })),
      /^No backup was made\. The database is Postgres 18, and the pg_dump here is of version 15\. Install .*postgresql-client-18\.\n$/,
    );
    expectRefused(
      await backUp({ PATH: join(folder, 'nothing'), DATABASE_URL: database.url }),
      /Postgres 18, and there is no pg_dump here\. Install /,
    );
    expect(await listBackups()).toEqual([]);
  });

  it('tells no password and no secret to anybody (contract 9.312)', async () => {
    const seen = join(folder, 'seen');
    const env = await standIn({ dump: `echo "$@" > ${seen}; env >> ${seen}; ${write}` });
    const url = new URL(database.url);
    url.search = '?application_name=a%20backup';
    url.searchParams.set('sslmode', 'disable');
    const secret = 'a secret of a client that is long enough';
    const { code, err } = await backUp({ ...env, DATABASE_URL: url.href, SSO_MARKETPLACE_SECRET: secret });
    expect(err).toBe('');
    expect(code).toBe(0);
    const text = await readFile(seen, 'utf8');
    const { password } = url;
    expect(text.split('\n')[0]).toContain(
      ` --dbname=postgres://identity@${url.host}${url.pathname}?application_name=a%20backup&sslmode=disable`,
    );
    expect(text.split('\n')[0]).not.toContain(password);
    expect(text).toContain(`\nPGPASSWORD=${password}\n`);
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/^DATABASE_URL/m);
  });

  it.each([
    ['sslmode=require', 'sslmode=verify-full', '/etc/ssl/certs/ca-certificates.crt'],
    ['sslmode=verify-full&sslrootcert=%2Fca.pem', 'sslmode=verify-full&sslrootcert=%2Fca.pem', undefined],
    ['sslmode=no-verify', 'sslmode=require', undefined],
  ])('checks the server as the service does: %s', async (given, passed, authorities) => {
    // The database of this test has no TLS, so the test looks at the arguments and the environment for pg_dump and pg_restore.
    const { splitUrl } = await import('../../server/runtime/dump.ts');
    const { address, env } = splitUrl(`postgres://a:b@db.example.com/identity?${given}`);
    expect(address).toBe(`postgres://a@db.example.com/identity?${passed}`);
    expect(env).toEqual({ PGPASSWORD: 'b', ...(authorities && { PGSSLROOTCERT: authorities }) });
  });

  it.each([
    [
      'fails half way',
      { dump: `${write}; echo 'disk full' >&2; exit 1` },
      /^No backup was made\. disk full\n$/,
    ],
    [
      'holds another database',
      { restore: "echo '5; 0 1 TABLE DATA public shops identity'" },
      /no table "users"/,
    ],
    ['cannot be read', { restore: 'echo "not an archive" >&2; exit 1' }, /not an archive/],
  ])('leaves nothing of a dump that %s (contract 9.311)', async (_, programs, sentence) => {
    expectRefused(await backUp(await standIn(programs)), sentence);
    expect(await listBackups()).toEqual([]);
  });

  it('leaves nothing when it is told to stop, and clears away what a killed run has left (contract 9.311)', async () => {
    const child = begin(await standIn({ dump: `${write}; echo $$ > ${folder}/pid; exec sleep 600` }));
    const outcome = readOutcome(child);
    const pid = await vi.waitFor(async () => Number(await readFile(join(folder, 'pid'), 'utf8')), 30_000);
    child.kill('SIGTERM');
    expectRefused(await outcome, /^No backup was made: it was stopped\.\n$/);
    expect(await listBackups()).toEqual([]);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 30_000);

    for (const name of ['.part-killed', '.part-running']) await mkdir(join(folder, 'backups', name));
    const longAgo = new Date(Date.now() - 2 * 86_400_000);
    await utimes(join(folder, 'backups/.part-killed'), longAgo, longAgo);
    expect((await backUp(await standIn())).code).toBe(0);
    expect(await listBackups()).toEqual(['.part-running', expect.stringMatching(timeName)]);
  });

  it('writes into no file that somebody else has put in its place (contract 9.312)', async () => {
    const [backups, theirs] = [join(folder, 'backups'), join(folder, 'theirs')];
    await mkdir(backups);
    await writeFile(theirs, 'nothing');
    // Another user of this machine may write to the folder, and removes the backup's file as soon as it appears.
    let isTaken = false;
    const watcher = watch(backups, (_, name) => {
      if (isTaken || !name?.startsWith('.part-')) return;
      isTaken = true;
      renameSync(join(backups, name), join(folder, 'taken'));
      mkdirSync(join(backups, name));
      symlinkSync(theirs, join(backups, name, 'identity.dump'));
    });
    await backUp(await standIn());
    watcher.close();
    expect(isTaken).toBe(true);
    expect(await readFile(theirs, 'utf8')).toBe('nothing');
  });

  it('takes a database of a version that had neither documents nor an audit, and does not migrate it (contract 9.313)', async () => {
    const empty = await emptyDatabase(inject('templateUrl'));
    const { db, close } = connect(empty.url);
    try {
      const { code, out, err } = await backUp({ ...(await standIn()), DATABASE_URL: empty.url });
      expect([code, err]).toEqual([
        0,
        'The backup is whole, but the database could not be told of it (42P01).\n',
      ]);
      expect(out).toContain('\nThere are no documents yet.\n');
      const { rows } = await sql`select from pg_tables where schemaname = 'public'`.execute(db);
      expect(rows).toEqual([]);
    } finally {
      await close();
      await empty.drop();
    }
  });

  it('is refused a folder that it may not use, by its whole path', async () => {
    await writeFile(join(folder, 'backups'), '');
    expectRefused(
      await backUp(await standIn()),
      new RegExp(`^Cannot use the folder ${folder}/backups \\((EEXIST|ENOTDIR)\\)\\.\\n$`),
    );
  });
});

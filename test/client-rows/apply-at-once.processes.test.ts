// client:apply: several at the same time, some that are killed while they work, and a file of 200 clients (contract 13.82 to
// 13.88).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { beforeEach, expect, it, vi } from 'vitest';
import { openSecret } from '../../server/clients/secrets.ts';
import { openApp } from '../support/app/app.ts';
import { expectRefused, readOutcome, runCli } from '../support/app/cli.ts';
import {
  listAudit,
  listClientMails,
  listStored,
  newPath,
  readSecrets,
  writeClients,
} from '../support/app/client-files.ts';
import { openWire } from '../support/database/wire.ts';
import { addStaff } from '../support/people/staff.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const app = shared(openApp);
const folder = await sharedFolder();
const why = ['--why', 'commit 1a2b3c'];
const callback = 'http://localhost:4000/cb';
const listClients = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `client_${String(at).padStart(3, '0')}`, callback }));

beforeEach(async () => {
  for (const table of ['clients', 'audit_events', 'mails'])
    await sql`delete from ${sql.table(table)}`.execute(app.db);
});

const argsOf = async (clients: unknown, secrets: string, ...more: string[]) => [
  ...['client:apply', await writeClients(folder, clients), '--secrets-to', secrets, ...more, ...why],
];

/** Checks that the file has the secret of every row, and no other. */
async function requireTrueSecrets(path: string): Promise<void> {
  const stored = await listStored(app.db);
  const opened = await Promise.all(
    stored.map(async (row) => {
      const [sealed = new Uint8Array()] = row.sealed;
      return [row.name, await openSecret(app.config.encryptionKeys, row, sealed)] as const;
    }),
  );
  expect([...(await readSecrets(path))]).toEqual(opened);
}

it('16 at once add each client once, and one file has all secrets (contract 13.82 and 13.85)', async () => {
  const { id } = await addStaff(app);
  const clients = listClients(5);
  const paths = Array.from({ length: 16 }, () => newPath(folder));
  const outcomes = await Promise.all(
    paths.map(async (path) => runCli(app.databaseUrl, await argsOf(clients, path, '--json'))),
  );
  for (const { code, err } of outcomes) expect(code, err).toBe(0);
  expect(outcomes.filter(({ out }) => JSON.parse(out).done)).toHaveLength(1);
  const written = paths.filter((path) => existsSync(path));
  expect(written).toHaveLength(1);
  await requireTrueSecrets(written[0] ?? '');
  expect(await listAudit(app.db)).toHaveLength(5);
  expect((await listClientMails(app.db)).filter((mail) => mail.user_id === id)).toHaveLength(1);
});

it('16 at once with one file of secrets never write over it (contract 13.86)', async () => {
  const path = newPath(folder);
  const outcomes = await Promise.all(
    listClients(16).map(async (client) => runCli(app.databaseUrl, await argsOf([client], path))),
  );
  expect(outcomes.filter(({ code }) => code === 0)).toHaveLength(1);
  for (const outcome of outcomes.filter(({ code }) => code !== 0))
    expectRefused(outcome, /there is such a file already/);
  await requireTrueSecrets(path);
});

it('killed between file and commit, nothing is done, and it can be repeated (contract 13.85)', async () => {
  const path = newPath(folder);
  let child: ReturnType<typeof spawn> | undefined;
  const wire = await openWire(app.databaseUrl, (data) => {
    if (!existsSync(path) || !data.includes('commit')) return undefined;
    child?.kill('SIGKILL');
    return 'lost';
  });
  const args = await argsOf(listClients(3), path);
  const started = spawn(process.execPath, ['build/service/cli.js', ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, DATABASE_URL: wire.url, NODE_ENV: 'test' },
  });
  child = started;
  const killed = await readOutcome(started);
  wire.close();
  expect(killed.out).toBe('');
  expect(await listStored(app.db)).toEqual([]);
  expect(await listAudit(app.db)).toEqual([]);
  // The killed command may have written the file of secrets. A dry run shows that it added no client.
  const planned = await runCli(app.databaseUrl, [...args, '--dry-run']);
  expect(planned.out).toContain('client_000: would be added');
  const next = newPath(folder);
  const repeated = await runCli(app.databaseUrl, await argsOf(listClients(3), next));
  expect(repeated.code, repeated.err).toBe(0);
  await requireTrueSecrets(next);
});

it('a commit that does not arrive leaves no file (contract 13.85)', async () => {
  const path = newPath(folder);
  let isFirst = true;
  const wire = await openWire(app.databaseUrl, (data) => {
    if (!isFirst || !existsSync(path) || !data.includes('commit')) return undefined;
    isFirst = false;
    return 'lost';
  });
  const { code, out } = await runCli(wire.url, await argsOf(listClients(3), path));
  wire.close();
  expect([code, out, isFirst]).toEqual([1, '', false]);
  expect(existsSync(path)).toBe(false);
  expect(await listStored(app.db)).toEqual([]);
});

it('a commit whose answer is lost keeps the file, because its secrets count (contract 13.85)', async () => {
  const path = newPath(folder);
  let isFirst = true;
  const wire = await openWire(app.databaseUrl, (data) => {
    if (!isFirst || !existsSync(path) || !data.includes('commit')) return undefined;
    isFirst = false;
    return 'unanswered';
  });
  const { code, out, err } = await runCli(wire.url, await argsOf(listClients(3), path));
  wire.close();
  expect([code, isFirst], err).toEqual([0, false]);
  expect(out).toContain('client_002: added');
  await requireTrueSecrets(path);
});

it('if the database stays away, the file stays, and the command says what to do (contract 13.85)', async () => {
  const path = newPath(folder);
  const wire = await openWire(app.databaseUrl, (data) => {
    if (!existsSync(path) || !data.includes('commit')) return undefined;
    setTimeout(() => wire.cut(), 0);
    return 'lost';
  });
  const outcome = await runCli(wire.url, await argsOf(listClients(3), path));
  wire.close();
  expectRefused(outcome, /did not say whether this was done.*--dry-run/);
  expect(existsSync(path)).toBe(true);
});

it('200 clients from one file, one mail, and no 201st (contract 13.81, 13.85 and 13.88)', async () => {
  const { id } = await addStaff(app);
  const path = newPath(folder);
  const clients = listClients(200);
  const added = await runCli(app.databaseUrl, await argsOf(clients, path));
  expect(added.code, added.err).toBe(0);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await requireTrueSecrets(path);
  expect(await listAudit(app.db)).toHaveLength(200);
  const mails = (await listClientMails(app.db)).filter((mail) => mail.user_id === id);
  expect(mails).toHaveLength(1);
  expect(mails[0]?.client).toMatch(/^added client_000, (\w+, ){18}client_019 and 180 more$/);
  // The running service accepts the new clients.
  await vi.waitFor(
    async () => {
      const { headers } = await app.send('/sso/launch/client_199');
      expect(headers.get('location')).toContain('/login');
    },
    { timeout: 8_000 },
  );
  const one = await runCli(
    app.databaseUrl,
    await argsOf([{ name: 'another', callback }, ...clients.slice(0, 199)], newPath(folder)),
  );
  expectRefused(one, /^Entry 1 \(another\), name: There are 200 clients/);
});

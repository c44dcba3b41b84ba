// The service behind PgBouncer 1.18 in transaction mode, as docs/operate/postgres.md sets it up.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { readConfig } from '../../server/settings/config.ts';
import { populate, settings } from '../bench/population.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { connect } from '../support/database/postgres.ts';
import { createClients } from '../support/faults/acknowledged.ts';
import { renderOperateFile } from '../support/machines/operate-files.ts';
import {
  makeOwnFolder,
  type RunningProgram,
  requirePrograms,
  startProgram,
  writeOwnFile,
} from '../support/machines/programs.ts';
import { liftAllowancesAt } from '../support/people/allowances.ts';
import { timeoutsSample } from '../support/project/samples.ts';

let folder: string;
let postgres: EmbeddedPostgres;
let bouncer: RunningProgram;
let writeSettings: (poolSize: number) => Promise<void>;
let pooledUrl: string;
beforeAll(async () => {
  requirePrograms('/usr/sbin/pgbouncer');
  folder = await makeOwnFolder();
  postgres = await startEmbeddedPostgres(join(folder, 'data'));
  await populate(postgres.url, 2_000, 'none');
  await liftAllowancesAt(postgres.url);
  await query(timeoutsSample);

  const port = await findFreePort();
  const url = new URL(postgres.url);
  await writeOwnFile(join(folder, 'userlist.txt'), `"${url.username}" "${url.password}"\n`);
  writeSettings = (poolSize) =>
    writeOwnFile(
      join(folder, 'pgbouncer.ini'),
      renderOperateFile('pgbouncer.ini', {
        'host=10.0.0.21 port=5432': `host=127.0.0.1 port=${postgres.port}`,
        'listen_port = 6432': `listen_port = ${port}`,
        'default_pool_size = 20': `default_pool_size = ${poolSize}`,
        '/etc/pgbouncer': folder,
        '/var/log/postgresql': folder,
        '/var/run/postgresql': folder,
      }),
    );
  await writeSettings(4);
  bouncer = startProgram('/usr/sbin/pgbouncer', [join(folder, 'pgbouncer.ini')], { folder });
  url.port = String(port);
  pooledUrl = url.href;
});
afterAll(async () => {
  await bouncer?.stop();
  await postgres?.stop();
  // If a package is missing, the test has made no folder.
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function query(text: string) {
  const { db, close } = connect(postgres.url, { preparedStatements: false });
  try {
    return (await db.executeQuery(CompiledQuery.raw(text))).rows;
  } finally {
    await close();
  }
}
const countConnections = () =>
  query(
    "select pid from pg_stat_activity where usename = 'identity' and datname = 'identity' and pid <> pg_backend_pid()",
  ).then((rows) => rows.length);

it('two instances work behind PgBouncer on few connections, also while it reloads its settings', async () => {
  const ports = [await findFreePort(), await findFreePort()];
  const env = {
    ...settings,
    DATABASE_URL: pooledUrl,
    DATABASE_PREPARED_STATEMENTS: 'off',
    HOST: '127.0.0.1',
    TRUSTED_PROXIES: 'none',
  };
  const services: RunningProcess[] = [];
  try {
    for (const port of ports) services.push(await startService('node', port, env));
    const targets = ports.map((port) => `http://127.0.0.1:${port}`);
    const clients = createClients(targets, readConfig(env));
    await clients.during(async () => {
      await new Promise((done) => setTimeout(done, 4_000));
      expect(await countConnections()).toBeLessThanOrEqual(4);
      await writeSettings(8);
      bouncer.signal('SIGHUP');
      // PgBouncer has read the new settings, because it has more connections than the old settings allowed.
      await vi.waitFor(async () => expect(await countConnections()).toBeGreaterThan(4), 10_000);
      await new Promise((done) => setTimeout(done, 4_000));
    });
    expect(clients.faults.slice(0, 20)).toEqual([]);
    const statuses = Object.values(clients.statuses()).flatMap((ofKind) => Object.keys(ofKind));
    expect(statuses).not.toContain('503');
    const { db, close } = connect(postgres.url, { preparedStatements: false });
    const losses = await clients.findLosses(db);
    await close();
    expect(losses.slice(0, 20)).toEqual([]);
  } finally {
    for (const { child } of services) child.kill('SIGKILL');
    await Promise.all(services.map(({ exited }) => exited));
  }
});

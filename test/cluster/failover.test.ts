// Under load, a Patroni cluster as in docs/operate/postgres.md loses its primary, then freezes while a former primary keeps
// running, and then makes a switchover.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { populate, settings } from '../bench/population.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { connect, makeFolder } from '../support/database/postgres.ts';
import { type Clients, createClients } from '../support/faults/acknowledged.ts';
import { type Cluster, startCluster } from '../support/machines/cluster.ts';
import { liftAllowancesAt } from '../support/people/allowances.ts';
import { baseBackupSample, secondRoleSample } from '../support/project/samples.ts';

const run = promisify(execFile);
const kills = 3;
const people = 20_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

let cluster: Cluster;
const services: RunningProcess[] = [];
let clients: Clients;
beforeAll(async () => {
  cluster = await startCluster();
  const ports = [await findFreePort(), await findFreePort()];
  const env = {
    ...settings,
    DATABASE_URL: cluster.url,
    HOST: '127.0.0.1',
    TRUSTED_PROXIES: 'none',
    // The test sends hand-offs a second time at the end, so they are valid for an hour.
    MARKETPLACE_SSO_TTL: '3600',
  };
  for (const port of ports) services.push(await startService('node', port, env));
  await populate(cluster.superuserUrl, people, 'none');
  await liftAllowancesAt(cluster.superuserUrl);
  const targets = ports.map((port) => `http://127.0.0.1:${port}`);
  clients = createClients(targets, readConfig(env));
});
afterAll(async () => {
  for (const { child } of services) child.kill('SIGKILL');
  await Promise.all(services.map(({ exited }) => exited));
  await cluster?.close();
});

/** Lets clients work before, during and after `happening`, until both instances serve again. */
async function workThrough(happening: () => Promise<unknown>): Promise<number> {
  await clients.during(async () => {
    await clients.areServed();
    await happening();
    // A switchover begins some time after it was asked for.
    await pause(2_000);
    await clients.areServed();
  });
  return clients.longestGapMs();
}

describe('two instances on a cluster', () => {
  it.each(Array.from({ length: kills }, (_, at) => at + 1))(
    'are back within 30 seconds after the primary was killed (%i)',
    async () => {
      const primary = await cluster.findPrimary();
      const gapMs = await workThrough(() => cluster.kill(primary));
      cluster.start(primary);
      await cluster.waitUntilWhole();
      expect(gapMs).toBeLessThan(30_000);
    },
  );

  it('are back within 30 seconds after Patroni froze, and left a former primary running', async () => {
    const primary = await cluster.findPrimary();
    const { db, close } = connect(cluster.url, { preparedStatements: false });
    // Runs the query again and again, so that its connection is never idle for long.
    const findServer = async () =>
      (await sql<{ address: string }>`select host(inet_server_addr()) as address`.execute(db)).rows[0]
        ?.address;
    const patience = { timeout: 60_000, interval: 300 };
    const gapMs = await workThrough(async () => {
      expect(await findServer()).toBe(cluster.addressOf(primary));
      cluster.freeze(primary);
      await vi.waitFor(async () => {
        const server = await findServer();
        const present = await cluster.findPrimary();
        expect(present).not.toBe(primary);
        expect(server).toBe(cluster.addressOf(present));
      }, patience);
    }).finally(async () => {
      cluster.thaw(primary);
      await close();
    });
    await cluster.waitUntilWhole();
    expect(gapMs).toBeLessThan(30_000);
  });

  it('are back within 30 seconds after a switchover', async () => {
    const gapMs = await workThrough(() => cluster.switchOver());
    await cluster.waitUntilWhole();
    expect(gapMs).toBeLessThan(30_000);
  });

  it('have answered only as asked, or with 503', () => {
    expect(clients.faults.slice(0, 20)).toEqual([]);
    for (const { output } of services) expect(output()).not.toContain('"internal_error"');
  });

  it('have lost nothing that was acknowledged, doubled nothing, and take no hand-off twice', async () => {
    const { db, close } = connect(cluster.superuserUrl, { preparedStatements: false });
    const losses = await clients.findLosses(db);
    await close();
    expect(losses.slice(0, 20)).toEqual([]);
  });
});

describe('the commands of docs/operate/postgres.md', () => {
  const bin = '/usr/lib/postgresql/15/bin';
  const shell = async (script: string, env: Record<string, string>) => {
    const all = { ...env, PATH: `${bin}:/usr/bin:/bin`, NODE_ENV: 'test' as const };
    return (await run('sh', ['-ec', script], { cwd: folder, env: all, timeout: 60_000 })).stdout;
  };
  const withDatabase = (url: string, database: string, role?: string) => {
    const changed = new URL(url);
    changed.pathname = `/${database}`;
    if (role) changed.username = role;
    return changed.href;
  };
  const query = async (url: string, text: string) => {
    const { db, close } = connect(url, { preparedStatements: false });
    try {
      return (await db.executeQuery<{ value: string }>(CompiledQuery.raw(text))).rows[0]?.value;
    } finally {
      await close();
    }
  };
  let folder: string;
  beforeAll(async () => {
    folder = await makeFolder();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('make a base backup', async () => {
    const command = baseBackupSample.replace('/backup/base', join(folder, 'base'));
    await shell(command, { BACKUP_URL: cluster.replicationUrl });
    await shell(`pg_verifybackup ${join(folder, 'base')}`, {});
  });

  it('let a second role take over from the first, which owns what it makes', async () => {
    const [create = '', ...more] = secondRoleSample.trim().split(/(?<=;)\n/);
    for (const statement of [create.replace('the new password', 'second-of-a-test'), ...more])
      await query(cluster.superuserUrl, statement);
    const second = new URL(withDatabase(cluster.url, 'identity', 'identity_b'));
    second.password = 'second-of-a-test';
    await query(second.href, 'create table made_by_the_second ()');
    const owner = "select tableowner value from pg_tables where tablename = 'made_by_the_second'";
    expect(await query(cluster.url, owner)).toBe('identity');
    await query(cluster.superuserUrl, 'alter role identity password null');
    await expect(query(cluster.url, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    expect(await query(second.href, 'select (count(*) > 0)::text value from users')).toBe('true');
  });
});

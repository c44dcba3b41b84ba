import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { readConfig } from '../../server/settings/config.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { checkSignups } from '../support/crm/signup-checker.ts';
import { buildLoad, sendLoad, type Target } from '../support/crm/signup-load.ts';
import { connect, makeFolder } from '../support/database/postgres.ts';
import { seed } from '../support/run/random.ts';

/** Opens two instances as processes, on a Postgres that syncs to disk. An instance and Postgres can be killed and restarted. */
async function openService() {
  const folder = await makeFolder();
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  let postgres: EmbeddedPostgres = await startEmbeddedPostgres(data, { settings: { fsync: 'on' } });
  onTestFinished(() => postgres.stop());
  const { db, close } = connect(postgres.url, { poolSize: 2, preparedStatements: false });
  onTestFinished(close);

  const output: RunningProcess['output'][] = [];
  const start = async (port: number) => {
    const service = await startService('node', port, { DATABASE_URL: postgres.url });
    output.push(service.output);
    onTestFinished(async () => {
      service.child.kill('SIGTERM');
      await service.exited;
    });
    return service;
  };
  const ports = [await findFreePort(), await findFreePort()] as const;
  const [instance] = await Promise.all(ports.map(start));
  return {
    db,
    targets: ports.map(targetAt),
    log: () => output.map((read) => read()).join(''),
    async killInstance() {
      instance?.child.kill('SIGKILL');
      await instance?.exited;
      await start(ports[0]);
    },
    async killPostgres() {
      process.kill(postgres.pid, 'SIGKILL');
      // The child processes of Postgres end a moment later.
      await new Promise((done) => setTimeout(done, 1_000));
      // Postgres gets its old port, where the instances look for it.
      postgres = await startEmbeddedPostgres(data, { settings: { fsync: 'on', port: postgres.port } });
    },
  };
}

function targetAt(port: number): Target {
  const config = readConfig({ PORT: String(port) });
  return {
    config,
    async send(path, { method, headers, body } = {}, signal) {
      const response = await fetch(config.baseUrl + path, { method, headers, body, signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}

it('2,000 signups make exactly one contract each, while an instance and Postgres are killed', async () => {
  const service = await openService();
  const load = buildLoad({ seed, count: 2_000, sharing: 0.2 });
  const blows = [service.killInstance, service.killPostgres];
  const struck: Promise<void>[] = [];
  const faults = await sendLoad(load, service.targets, {
    atOnce: 64,
    hangUps: 0.1,
    // The kills come one after the other, at equal parts of the load.
    onProgress(acknowledged) {
      const blow = blows[struck.length];
      const isDue = acknowledged >= (load.sends.length * (struck.length + 1)) / (blows.length + 1);
      if (blow && isDue) struck.push((struck.at(-1) ?? Promise.resolve()).then(blow));
    },
  });
  expect(struck).toHaveLength(blows.length);
  await Promise.all(struck);
  faults.push(...(await checkSignups(service.db, load.messages)));
  expect(faults.slice(0, 20)).toEqual([]);
  // The kills had an effect: the database was away. Nothing else failed.
  expect(service.log()).toContain('"unavailable"');
  expect(service.log()).not.toContain('"internal_error"');
}, 300_000);

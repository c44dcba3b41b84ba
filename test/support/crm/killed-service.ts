// Two instances as processes, on a Postgres that syncs to disk, to be killed while a CRM sends.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../db/embedded/server.ts';
import { readConfig } from '../../../server/settings/config.ts';
import { findFreePort, type RunningProcess, startService } from '../app/process.ts';
import { connect, makeFolder } from '../database/postgres.ts';
import type { Target } from './signup-load.ts';

export async function openKilledService() {
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

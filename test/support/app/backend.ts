// The backend without jobs and HTTP, for tests that call it themselves.
import { inject } from 'vitest';
import { seedDemoUsers } from '../../../server/doors/demo/demo-users.ts';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { type Backend, createBackend } from '../../../server/instance/backend.ts';
import { readConfig } from '../../../server/settings/config.ts';
import { Deadline } from '../../../server/web/deadline.ts';
import type { Visit } from '../../../server/web/requests.ts';
import { cloneDatabase, connect } from '../database/postgres.ts';
import type { TestApp } from './app.ts';
import { recordLog } from './log.ts';

export type TestBackend = Pick<TestApp, 'db' | 'databaseUrl' | 'logged' | 'close'> & {
  backend: Backend;
  /** Calls procedures as a page does, and throws refusals. `headers` gets the headers that procedures set on the answer. */
  call: <Result>(
    work: (procedures: Procedures) => Promise<Result>,
    options?: { request?: Request; visit?: Visit; headers?: Headers },
  ) => Promise<Result>;
};

export type BackendOptions = { env?: Record<string, string>; now?: () => Date; databaseUrl?: string };

/** Opens the backend, by default on a fresh database with demo users who cannot log in. */
export async function openBackend({ env, now, databaseUrl }: BackendOptions = {}): Promise<TestBackend> {
  const fresh = databaseUrl === undefined ? await cloneDatabase(inject('templateUrl')) : undefined;
  const url = databaseUrl ?? fresh?.url ?? '';
  const database = connect(url, { poolSize: 20 });
  if (fresh) await seedDemoUsers(database.db, 'none', new Date());
  const { log, logged } = recordLog();
  const backend = createBackend({
    config: readConfig(env ?? {}),
    database,
    now,
    log,
  });
  return {
    backend,
    async call(
      work,
      { request = new Request(backend.site.baseUrl), visit = newVisit(), headers = new Headers() } = {},
    ) {
      try {
        return await work(backend.createProcedures(request, visit, headers));
      } catch (error) {
        throw backend.transport.readRefusal(error, visit);
      }
    },
    db: database.db,
    databaseUrl: url,
    logged,
    async close() {
      await database.close();
      await fresh?.drop();
    },
  };
}

let visits = 0;
/** A visit from an IP address that no test has used yet. */
export const newVisit = (): Visit => ({
  requestId: `request-${++visits}`,
  address: `198.51.100.${visits % 256}`,
  deadline: new Deadline(),
});

// What the service is made of without its jobs and its HTTP: for tests of what they call, and when.
import { inject } from 'vitest';
import { openDatabase } from '../../db/client.ts';
import { seedDemoUsers } from '../../db/seed.ts';
import { type Backend, createBackend } from '../../server/backend.ts';
import { readConfig } from '../../server/config.ts';
import type { Visit } from '../../server/http.ts';
import type { TestApp } from './app.ts';
import { cloneDatabase } from './postgres.ts';

export type TestBackend = Pick<TestApp, 'db' | 'databaseUrl' | 'logged' | 'close'> & { backend: Backend };

export type BackendOptions = { env?: Record<string, string>; now?: () => Date; databaseUrl?: string };

/** On a fresh database, whose demo users have no right password, unless told. */
export async function openBackend({ env, now, databaseUrl }: BackendOptions = {}): Promise<TestBackend> {
  const fresh = databaseUrl === undefined ? await cloneDatabase(inject('templateUrl')) : undefined;
  const url = databaseUrl ?? fresh?.url ?? '';
  const database = openDatabase({ url, poolSize: 20, preparedStatements: true, onError: () => undefined });
  if (fresh) await seedDemoUsers(database.db, 'none', new Date());
  const logged: TestApp['logged'] = [];
  const backend = createBackend({
    config: readConfig(env ?? {}),
    database,
    now,
    log: {
      info: (fields, message) => logged.push({ level: 'info', fields: { ...fields }, message }),
      error: (fields, message) => logged.push({ level: 'error', fields: { ...fields }, message }),
    },
  });
  return {
    backend,
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
/** Somebody who was not here before. */
export const newVisit = (): Visit => ({
  requestId: `request-${++visits}`,
  address: `198.51.100.${visits % 256}`,
  cspNonce: '',
});

// One instance of the service on a database. main.ts puts a process around it; tests start it as it is.
import { openDatabase } from '../db/postgres/client.ts';
import { migrate } from '../db/postgres/migrate.ts';
import { createBackend } from './backend.ts';
import { demoPassword, hasDemoUsers, seedDemoUsers } from './demo/demo-users.ts';
import { createShell, type Fetch, type ShellOptions } from './http/shell.ts';
import { hashPassword } from './identity/passwords.ts';
import { startJobs } from './jobs/jobs.ts';
import type { Log } from './log.ts';
import type { Config } from './settings/config.ts';
import { ConfigError } from './settings/reader.ts';

export type Service = {
  fetch: Fetch;
  /** From then on /readyz answers 503, and connections close after their answer. */
  drain: () => void;
  /** Stops the jobs and closes the database. */
  close: () => Promise<void>;
};

/**
 * Migrates the database, and seeds the demo users in local mode. In production it throws a ConfigError for a database
 * that holds them.
 */
export async function startService(options: {
  config: Config;
  databaseUrl: string;
  log: Log;
  shell: Pick<ShellOptions, 'pages' | 'staticFiles' | 'isDevelopment'>;
  now?: () => Date;
}): Promise<Service> {
  const { config, log } = options;
  await migrate(options.databaseUrl, () => log.info({}, "waiting for another instance's migrations"));
  const database = openDatabase({
    url: options.databaseUrl,
    poolSize: config.databasePoolSize,
    preparedStatements: config.databasePreparedStatements,
    onError: (err) => log.error({ err }, 'database connection lost'),
  });
  try {
    await seedOrRefuse(config, database.db);
  } catch (error) {
    await database.close();
    throw error;
  }
  const backend = createBackend({ config, database, log, now: options.now });
  const stopJobs = startJobs(backend.services);
  let isDraining = false;
  return {
    fetch: await createShell({ ...options.shell, backend, isDraining: () => isDraining }),
    drain: () => {
      isDraining = true;
    },
    async close() {
      await stopJobs();
      await backend.services.aside.finish();
      await database.close();
    },
  };
}

async function seedOrRefuse(config: Config, db: Parameters<typeof hasDemoUsers>[0]): Promise<void> {
  if (!config.production) return seedDemoUsers(db, await hashPassword(demoPassword), new Date());
  if (await hasDemoUsers(db)) {
    throw new ConfigError(
      'DATABASE_URL names a database that holds the demo users of local mode, whose password everybody knows. Use another one.',
    );
  }
}

// One instance of the service on a database: everything but the process around it. main.ts and the tests
// start it alike.
import { openDatabase } from '../db/client.ts';
import { migrate } from '../db/migrate.ts';
import { demoPassword, hasDemoUsers, seedDemoUsers } from '../db/seed.ts';
import { createBackend } from './backend.ts';
import { runInBackground } from './background.ts';
import { runBilling } from './billing/invoicing.ts';
import type { Config } from './config.ts';
import { hashPassword } from './identity/passwords.ts';
import { createMailer } from './mail/mailer.ts';
import { sendDueMails } from './mail/outbox.ts';
import { ConfigError } from './settings-reader.ts';
import { createShell, type Fetch, type Log, type ShellOptions } from './shell.ts';
import { sweep } from './sweeper.ts';

export type Service = {
  fetch: Fetch;
  /** From now on /readyz says 503 and connections are closed after their answer. */
  drain: () => void;
  /** Stops background work and lets go of the database. */
  close: () => Promise<void>;
};

/**
 * Migrates, and seeds the demo users in local mode. Throws a ConfigError where production meets a database
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
  const database = openDatabase({
    url: options.databaseUrl,
    poolSize: config.databasePoolSize,
    preparedStatements: config.databasePreparedStatements,
    onError: (err) => log.error({ err }, 'database connection lost'),
  });
  try {
    await migrate(database.db);
    await seedOrRefuse(config, database.db);
  } catch (error) {
    await database.close();
    throw error;
  }
  const backend = createBackend({ config, database, log, now: options.now });
  const { services } = backend;
  const mailer = config.mail && createMailer(config.mail, config.baseUrl);
  const stops = [
    runInBackground('mail', 1_000, (signal) => sendDueMails(services, mailer, signal), log),
    runInBackground('billing', 5_000, (signal) => runBilling(services, signal), log),
    runInBackground('sweep', 60_000, (signal) => sweep(services, signal), log),
  ];
  let isDraining = false;
  return {
    fetch: await createShell({ ...options.shell, backend, log, isDraining: () => isDraining }),
    drain: () => {
      isDraining = true;
    },
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      mailer?.close();
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

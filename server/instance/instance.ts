// One instance of the service on a database. main.ts runs it in a process. Tests start it directly.
import { explainRefusal } from '../../db/explain-refusal.ts';
import { isDatabaseAway } from '../../db/postgres/away.ts';
import { openDatabase } from '../../db/postgres/client.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import type { Log } from '../basics/log.ts';
import type { BillingSettings } from '../billing/settings/settings.ts';
import { keepLocalClients, type LocalClient } from '../clients/local.ts';
import { demoPassword, hasDemoUsers, seedDemoSeller, seedDemoUsers } from '../doors/demo/demo-users.ts';
import { addSums } from '../doors/jobs/add-sums.ts';
import { startJobs } from '../doors/jobs/jobs.ts';
import { lineOf } from '../ground/rate-limits.ts';
import { hashPassword } from '../identity/password/passwords.ts';
import { answerMetrics } from '../metrics/answer.ts';
import { watchEventLoop } from '../metrics/state.ts';
import type { Fetch } from '../runtime/listener.ts';
import type { Config } from '../settings/config.ts';
import { ConfigError } from '../settings/reader.ts';
import { answerWithinMs } from '../web/deadline.ts';
import { createBackend } from './backend.ts';
import { createShell, type Shell, type ShellOptions } from './shell.ts';

export type Instance = Shell & {
  fetchMetrics: Fetch;
  /**
   * Migrates, creates the demo users and seller in local mode, and starts the jobs. Until that is done, `fetch` answers 503 to
   * everything except /healthz. Waits while the database is away (contract 9.243). In production, throws a ConfigError if the
   * database holds the demo users.
   */
  start: () => Promise<void>;
  /**
   * Begins to stop: /readyz answers 503, connections close after their answer, requests that wait for events are answered, and
   * jobs end.
   */
  drain: () => void;
  close: () => Promise<void>;
};

// Both are counted back from a request's deadline: when its statements are ended, and until when it must have a connection.
const statementEndsBeforeMs = 500;
const connectionComesBeforeMs = 300;
export const statementTimeoutMs = answerWithinMs - statementEndsBeforeMs;

export type InstanceOptions = {
  config: Config;
  databaseUrl: string;
  log: Log;
  shell: Pick<ShellOptions, 'pages' | 'staticFiles' | 'isDevelopment'>;
  /** The settings of the seller in local mode. Tests leave these settings out, so they have no seller. */
  demoSeller?: BillingSettings;
  /** Clients for local mode. Production ignores them. */
  localClients?: readonly LocalClient[];
  now?: () => Date;
  answerWithinMs?: number;
};

export async function openInstance(options: InstanceOptions): Promise<Instance> {
  const { config, log } = options;
  const withinMs = options.answerWithinMs ?? answerWithinMs;
  const database = openDatabase({
    url: options.databaseUrl,
    poolSize: config.databasePoolSize,
    preparedStatements: config.databasePreparedStatements,
    statementTimeoutMs: withinMs - statementEndsBeforeMs,
    connectTimeoutMs: withinMs - connectionComesBeforeMs,
    // IP addresses take turns at the pool. One internet connection with IPv6 has endless addresses, so all its addresses count
    // as one.
    keyOf: lineOf,
    onError: (err) => log.error({ err }, 'database connection lost'),
  });
  const backend = createBackend({ config, database, log, now: options.now });
  const { metrics, aside, passwordCheck } = backend.deps;
  const stopWatching = config.metricsPort ? watchEventLoop(metrics.registry) : undefined;
  let stopJobs = async () => {};
  let jobsStopped: Promise<void> | undefined;
  let isUp = false;
  let isDraining = false;
  let isClosed = false;
  return {
    ...(await createShell({
      ...options.shell,
      answerWithinMs: withinMs,
      backend,
      isUp: () => isUp,
      isDraining: () => isDraining,
    })),
    fetchMetrics: (request) => answerMetrics(metrics, request, config),
    async start() {
      const prepareDatabase = async () => {
        await migrate(options.databaseUrl, (what) => log.info({}, `waiting for ${what}`));
        await seedOrRefuse(options, database.db);
        if (!config.production) await keepLocalClients(backend.deps, options.localClients ?? []);
        await backend.clients.refresh();
      };
      await Promise.all([
        whenThere(prepareDatabase, log, () => isClosed),
        // If this fails, for example on a very busy machine, the first new password loads the check.
        passwordCheck.load().catch((err) => {
          // If the start was refused, the password check is closed already, and the reason is known.
          if (!isClosed) log.error({ err }, 'the check of new passwords is not loaded');
        }),
      ]);
      stopJobs = startJobs(backend.deps, backend.clients);
      isUp = true;
    },
    drain() {
      isDraining = true;
      backend.endStreams();
      jobsStopped = stopJobs();
    },
    async close() {
      isClosed = true;
      stopWatching?.();
      backend.endStreams();
      await (jobsStopped ?? stopJobs());
      await aside.finish();
      await passwordCheck.close();
      // Stores what was counted since the last run of the job. If the start did not finish, the table of sums may not exist
      // yet.
      if (isUp) await addSums(backend.deps).catch((err) => log.error({ err }, 'sums not added'));
      await database.close();
    },
  };
}

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const service = await openInstance(options);
  try {
    await service.start();
  } catch (error) {
    await service.close();
    throw error;
  }
  return service;
}

const pauseMs = 1_000;
const lineEveryMs = 60_000;

/** Tries again while the database is away. When a machine boots, its database may start later than this process. */
async function whenThere(work: () => Promise<void>, log: Log, isOver: () => boolean): Promise<void> {
  for (let saidAt = Number.NEGATIVE_INFINITY; ; ) {
    try {
      return await work();
    } catch (error) {
      if (explainRefusal(error) || !isDatabaseAway(error) || isOver()) throw error;
      if (performance.now() - saidAt >= lineEveryMs) {
        const { code, message } = error as { code?: string; message: string };
        log.error({ reason: code ?? message }, 'waiting for the database');
        saidAt = performance.now();
      }
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
}

async function seedOrRefuse(
  { config, demoSeller }: InstanceOptions,
  db: Parameters<typeof hasDemoUsers>[0],
): Promise<void> {
  if (!config.production) {
    await seedDemoUsers(db, await hashPassword(demoPassword), new Date());
    if (demoSeller) await seedDemoSeller(db, demoSeller);
  } else if (await hasDemoUsers(db)) {
    throw new ConfigError(
      'DATABASE_URL names a database that holds the demo users of local mode, whose password everybody knows. Use another one.',
    );
  }
}

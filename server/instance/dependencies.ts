// What the rules work with: settings, database, clock, limits, log, metrics, and what an answer does not wait for.
import type { DatabaseClient } from '../../db/postgres/client.ts';
import type { Aside } from '../basics/aside.ts';
import type { Log } from '../basics/log.ts';
import type { RateLimits } from '../identity/ground/rate-limits.ts';
import type { PasswordCheck } from '../identity/password/password-check.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Config } from '../settings/config.ts';

/** What the rules work with. `now` is the only clock. */
export type Dependencies = RateLimits & {
  config: Config;
  db: DatabaseClient['db'];
  read: DatabaseClient['read'];
  now: () => Date;
  log: Log;
  metrics: Metrics;
  aside: Aside;
  passwordCheck: PasswordCheck;
};

// What the rules work with: settings, database, clock, limits, log.
import type { DatabaseClient } from '../db/postgres/client.ts';
import type { RateLimit } from './identity/rate-limits.ts';
import type { Log } from './log.ts';
import type { Config } from './settings/config.ts';

/** What the rules work with. `now` is the only clock. */
export type Services = {
  config: Config;
  db: DatabaseClient['db'];
  read: DatabaseClient['read'];
  now: () => Date;
  guessLimits: RateLimit;
  mailLimits: RateLimit;
  log: Log;
};

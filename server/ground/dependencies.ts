// What the rules work with: settings, database, clock, limits, log, metrics, and what an answer does not wait for.
import type { Transaction } from 'kysely';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import type { DB } from '../../db/schema.ts';
import type { AuditEvent } from '../../db/tables/audit-events.ts';
import type { User } from '../../db/tables/users.ts';
import type { Aside } from '../basics/aside.ts';
import type { Log } from '../basics/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Config } from '../settings/config.ts';
import type { RateLimits } from './rate-limits.ts';

export type NewPassword = {
  password: string;
  /** Of this service and its clients. */
  ourNames: string[];
  /** The name and the address of whose password it is: what a stranger would try first. */
  ownNames: string[];
};

/** `keys` say who asks, such as a link and a line. */
type Asker = { signal?: AbortSignal; keys?: string[] };

export type PasswordCheck = {
  /**
   * What is wrong with a new password, for its owner to read, or undefined. Throws `CheckIsFull` at once if too many wait, in all or
   * under one of the keys, and 400 `invalid_request` if the client has gone before its turn.
   */
  findFault: (given: NewPassword, asker?: Asker) => Promise<string | undefined>;
  /** Loads what the check needs, which takes a few tenths of a second, before anybody waits for it. */
  load: () => Promise<void>;
  close: () => Promise<void>;
};

/** What ends in billing with something that happens to a person. It is handed in, so that identity knows nothing of billing. */
export type EndsWithPerson = {
  /** Ends the contracts of an account, and gives how many it ended. */
  endContracts: (trx: Transaction<DB>, accountId: string, now: Date) => Promise<number>;
  /**
   * Takes out the address for invoices if somebody gave it here, who may have been a thief; `since` is how far back to look. One that
   * a signup named, and nobody has kept, goes in any case: a stranger may have signed up. Signups do not put it back. The caller
   * has locked the account.
   */
  takeOutInvoiceEmail: (
    trx: Transaction<DB>,
    deps: Pick<Dependencies, 'now'>,
    user: Pick<User, 'id' | 'account'>,
    by: { since?: Date; trail: Partial<AuditEvent>; request?: Request | undefined },
  ) => Promise<void>;
};

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
  endsWithPerson: EndsWithPerson;
};

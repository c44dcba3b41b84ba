// The dependencies of the service's functions: settings, database, clock, limits, log, metrics and background work.
import type { Transaction } from 'kysely';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import type { DB } from '../../db/schema.ts';
import type { AuditEvent } from '../../db/tables/audit-events.ts';
import type { User } from '../../db/tables/users.ts';
import type { Aside } from '../basics/aside.ts';
import type { Log } from '../basics/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Config } from '../settings/config.ts';
import type { Client, Clients } from '../sso/clients.ts';
import type { RateLimits } from './rate-limits.ts';

export type NewPassword = {
  password: string;
  /** The names of this service and its clients. */
  ourNames: string[];
  /** The owner's name and email address. A guesser tries passwords made of these names before all others. */
  ownNames: string[];
};

/**
 * `keys` name who asks for the check, such as a mail token or an internet connection. For each key, only a few checks may wait.
 */
type Asker = { signal?: AbortSignal; keys?: string[] };

export type PasswordCheck = {
  /**
   * Throws `CheckIsFull` if too many checks wait, in total or for one of the keys. Throws 400 `invalid_request` if `signal` is
   * aborted while the check waits.
   */
  findFault: (given: NewPassword, asker?: Asker) => Promise<string | undefined>;
  /** Takes a few tenths of a second. Call it when the process starts, before anybody waits for a check. */
  load: () => Promise<void>;
  close: () => Promise<void>;
};

/**
 * The functions by which identity ends or corrects what a person has in billing. They are passed in, so that identity does not
 * import billing.
 */
export type EndsWithPerson = {
  /** Returns how many contracts it ended. */
  endContracts: (trx: Transaction<DB>, accountId: string, now: Date) => Promise<number>;
  /**
   * Removes the email address for invoices if it was entered here after `since`, because a thief may have entered it. An
   * address that a signup named and nobody has confirmed is removed in any case, because a stranger may have signed up. Lock
   * the account first.
   */
  takeOutInvoiceEmail: (
    trx: Transaction<DB>,
    deps: Pick<Dependencies, 'now'>,
    user: Pick<User, 'id' | 'account'>,
    by: { since?: Date; trail: Partial<AuditEvent>; request?: Request | undefined },
  ) => Promise<void>;
};

/** Signs ID tokens and logout tokens. */
export type SigningKey = {
  kid: string;
  /** The key signs from this time until the `usedFrom` of the next key. */
  usedFrom: Date;
  privateKey: CryptoKey;
  publicJwk: { kty: 'RSA'; n: string; e: string; kid: string; use: 'sig'; alg: 'RS256' };
};

export type LiveClients = Clients & {
  /** The keys of this issuer, sorted by `usedFrom`, the latest first. */
  keys: () => readonly SigningKey[];
  /** Reads the clients' rows from the database again if one of them has changed. */
  refresh: () => Promise<void>;
  /** Records that the client has called us with the secret at this index of its secrets. */
  noteUse: (client: Client, secret: number) => void;
};

/** `now` tells the time. Tests can replace it. */
export type Dependencies = RateLimits & {
  config: Config;
  clients: LiveClients;
  db: DatabaseClient['db'];
  read: DatabaseClient['read'];
  now: () => Date;
  log: Log;
  metrics: Metrics;
  aside: Aside;
  passwordCheck: PasswordCheck;
  endsWithPerson: EndsWithPerson;
};

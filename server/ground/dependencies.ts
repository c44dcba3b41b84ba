// What the rules work with: settings, database, clock, limits, log, metrics, and work that no answer waits for.
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
  /** The owner's name and email address. A stranger would try passwords made of these first. */
  ownNames: string[];
};

/** `keys` name who asks, such as a mail token or an internet connection. Each key has a limit of waiting checks. */
type Asker = { signal?: AbortSignal; keys?: string[] };

export type PasswordCheck = {
  /**
   * Throws `CheckIsFull` if too many checks wait, in total or for one of the keys. Throws 400 `invalid_request` if the client
   * has gone meanwhile.
   */
  findFault: (given: NewPassword, asker?: Asker) => Promise<string | undefined>;
  /** Takes a few tenths of a second, so it runs before anybody waits for it. */
  load: () => Promise<void>;
  close: () => Promise<void>;
};

/** What ends in billing together with a person. These functions are passed in, so that identity knows nothing of billing. */
export type EndsWithPerson = {
  /** Returns how many contracts it ended. */
  endContracts: (trx: Transaction<DB>, accountId: string, now: Date) => Promise<number>;
  /**
   * Removes the address for invoices if it was given here since `since`, because a thief may have given it. An unconfirmed
   * address from a signup is removed in any case, because a stranger may have signed up. Lock the account first.
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
  /** The key signs from this time on, until a later key signs. */
  usedFrom: Date;
  privateKey: CryptoKey;
  publicJwk: { kty: 'RSA'; n: string; e: string; kid: string; use: 'sig'; alg: 'RS256' };
};

export type LiveClients = Clients & {
  /** The keys of this issuer, sorted by `usedFrom`, the latest first. */
  keys: () => readonly SigningKey[];
  /** Reads the rows of clients, if one has changed. */
  refresh: () => Promise<void>;
  /** Notes that the client has called us with its secret of this index. */
  noteUse: (client: Client, secret: number) => void;
};

/** `now` is the only clock. */
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

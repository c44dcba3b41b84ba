// Limits what strangers can try (contract 9.41 to 9.50, 9.121, 9.122 and 9.244), with counts in Postgres for all instances. A
// browser in which the user of the account has logged in has its own counts, so that strangers cannot use these counts up. A
// try without an IP address counts only for its account.
import ipaddr from 'ipaddr.js';
import { CompiledQuery } from 'kysely';
import { base64url } from 'oslo/encoding';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../../db/postgres/client.ts';
import { giveBackTry } from '../../db/tables/rate-limits.ts';
import { AppError } from '../basics/errors.ts';
import { sha256 } from '../runtime/hash.ts';

export type RateLimits = ReturnType<typeof createRateLimits>;

export type Tried = {
  /** Always the same text for the same account. */
  account: string;
  /** The caller's IP address, or empty if it is unknown. */
  address: string;
  /** The name of a browser in which the user of the account has logged in (`nameDevice`). */
  device: string | undefined;
};

type RateLimit = {
  /** Call it before the try, so that parallel tries cannot slip by. The first count that refuses throws 429 `rate_limited`. */
  countTry: (tried: Tried) => Promise<Try>;
  /** For each count to which this try would be added, returns the count's key in the table and its limit. Does not add the try. */
  countsOf: (tried: Tried) => { key: string; times: number }[];
};

type Try = {
  /** Whether the next try is refused. */
  isLast: boolean;
  /** Gives this try back to every count. `db` may be a transaction. */
  giveBack: (db: Database) => Promise<void>;
};

type Store = ReturnType<typeof createStore>;
type Counter = { limiter: RateLimiterPostgres; of: (tried: Tried) => string | undefined };

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/**
 * `countAsked` is called for each mail that somebody asks for, with `taken` if the limits allow the mail, and with `refused` if
 * not.
 */
export function createRateLimits(db: Database, countAsked: (result: 'taken' | 'refused') => void) {
  const store = createStore(db);
  const count = (keyPrefix: string, tries: number, windowSeconds: number, of: Counter['of']): Counter => ({
    limiter: createLimiter(store, keyPrefix, tries, windowSeconds),
    of,
  });
  const mailLimits = createRateLimit(
    [count('mail-device', 5, hour, ({ device }) => device)],
    [
      count('mail-address', 50, hour, ({ address }) => lineOf(address)),
      count('mail-site', 150, hour, ({ address }) => siteOf(address)),
      count('mail-network', 5, hour, accountByNetwork),
      count('mail-network-day', 7, day, accountByNetwork),
      count('mail-account', 5, hour, ({ account }) => account),
      count('mail-account-day', 10, day, ({ account }) => account),
    ],
  );
  // IP addresses are counted first. A caller whose IP address is at its limit must not use up the tries of accounts.
  const spare = [
    count('spare-mail-address', 50, hour, ({ address }) => lineOf(address)),
    count('spare-mail-site', 150, hour, ({ address }) => siteOf(address)),
    count('spare-mail-account', 1, 3 * hour, ({ account }) => account),
  ];
  const counted = ({ countTry, countsOf }: RateLimit): RateLimit => ({
    countsOf,
    async countTry(tried) {
      try {
        const taken = await countTry(tried);
        countAsked('taken');
        return taken;
      } catch (error) {
        if (waitOf(error) !== undefined) countAsked('refused');
        throw error;
      }
    },
  });
  return {
    guessLimits: createRateLimit(
      [
        count('guess-device', 10, 15 * minute, ({ device }) => device),
        count('guess-device-day', 30, day, ({ device }) => device),
        // Each login in a new browser makes a device with counts of its own. This count limits people who make many devices.
        count('guess-device-address', 300, 15 * minute, ({ address }) => lineOf(address)),
      ],
      [
        count('guess-address', 100, 15 * minute, ({ address }) => lineOf(address)),
        count('guess-site', 300, 15 * minute, ({ address }) => siteOf(address)),
        count('guess-network', 10, 15 * minute, accountByNetwork),
        count('guess-account', 100, hour, ({ account }) => account),
      ],
    ),
    // Somebody who knows the password can use up the tries that all unknown browsers share, but not the tries of a browser that
    // the owner uses.
    codeLimits: createRateLimit(
      [
        count('code-device', 10, hour, ({ device }) => device),
        count('code-device-day', 30, day, ({ device }) => device),
        count('code-device-address', 300, 15 * minute, ({ address }) => lineOf(address)),
      ],
      [
        count('code-account', 10, hour, ({ account }) => account),
        count('code-account-day', 30, day, ({ account }) => account),
      ],
    ),
    /** Counts guesses of a second factor that are made with a take-back link. */
    takeBackLimits: createRateLimit([], [count('take-back-link', 10, hour, ({ account }) => account)]),
    // `account` is a mail token, or a user in a browser. Its count comes first, so that one token or user cannot use up the tries
    // of everybody at an IP address.
    newPasswordLimits: createRateLimit(
      [],
      [
        count('new-password', 30, 15 * minute, ({ account }) => account),
        count('new-password-address', 100, 15 * minute, ({ address }) => lineOf(address)),
        count('new-password-site', 300, 15 * minute, ({ address }) => siteOf(address)),
      ],
      // If a shared IP address is at its limit, a refused try does not count for the token or user.
      { giveBackRefusedIn: db },
    ),
    mailLimits: counted(mailLimits),
    /** `account` is a session. */
    codesOfSession: createRateLimit([], [count('oauth-code', 60, minute, ({ account }) => account)]),
    /** Even if strangers use up the other tries, the owner can get one mail to set a password every three hours. */
    passwordMailLimits: counted(withSpare(mailLimits, createRateLimit(spare, spare))),
  };
}

/** The part of a pg client that the library uses. */
function createStore(db: Database) {
  return {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows, numAffectedRows } = await db.executeQuery(CompiledQuery.raw(text, values));
      return { rows, rowCount: Number(numAffectedRows ?? rows.length) };
    },
  };
}

function createLimiter(store: Store, keyPrefix: string, tries: number, windowSeconds: number) {
  return new RateLimiterPostgres({
    storeClient: store,
    storeType: 'client',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix,
    points: tries,
    duration: windowSeconds,
    // The job `sweep` deletes expired rows.
    clearExpiredByTimeout: false,
  });
}

/** With `giveBackRefusedIn`, a try that one count refuses is given back to the counts that have counted it already. */
function createRateLimit(
  ofDevice: Counter[],
  ofOthers: Counter[],
  { giveBackRefusedIn }: { giveBackRefusedIn?: Database } = {},
): RateLimit {
  const keysOf = (tried: Tried) =>
    (tried.device === undefined ? ofOthers : ofDevice).flatMap(({ limiter, of }) => {
      const counts = of(tried);
      return counts === undefined ? [] : { limiter, key: digestOf(counts) };
    });
  return {
    countsOf: (tried) =>
      keysOf(tried).map(({ limiter, key }) => ({ key: limiter.getKey(key), times: limiter.points })),
    async countTry(tried) {
      const counted: Parameters<typeof giveBackTry>[1][] = [];
      const giveBack = async (db: Database) => {
        await Promise.all(counted.map((each) => giveBackTry(db, each)));
      };
      let isLast = false;
      for (const { limiter, key } of keysOf(tried)) {
        const { msBeforeNext, remainingPoints } = await limiter.consume(key).catch(async (refusal) => {
          if (giveBackRefusedIn && refusal instanceof RateLimiterRes) await giveBack(giveBackRefusedIn);
          return refuse(refusal);
        });
        isLast ||= remainingPoints === 0;
        // A try is given back only to the window that counted it. That window ends before `expiresBefore`, and the next window
        // ends after it, because every window is longer than a minute.
        const expiresBefore = Date.now() + msBeforeNext + minute * 1_000;
        counted.push({ key: limiter.getKey(key), tries: limiter.points, expiresBefore });
      }
      return { isLast, giveBack };
    },
  };
}

/** A try that `first` refuses is counted in `spare`. If both refuse, the answer names the shorter wait. */
const withSpare = (first: RateLimit, spare: RateLimit): RateLimit => ({
  countsOf: (tried) => [...first.countsOf(tried), ...spare.countsOf(tried)],
  countTry: (tried) =>
    first.countTry(tried).catch((refusal) => {
      if (waitOf(refusal) === undefined) throw refusal;
      return spare.countTry(tried).catch((other) => {
        throw (waitOf(other) ?? 0) < (waitOf(refusal) ?? 0) ? other : refusal;
      });
    }),
});

/** Returns the wait of a `rate_limited` error in seconds, and undefined for any other error. */
function waitOf(error: unknown): number | undefined {
  return error instanceof AppError && error.code === 'rate_limited'
    ? Number(error.headers['Retry-After'])
    : undefined;
}

function refuse(refusal: unknown): never {
  if (!(refusal instanceof RateLimiterRes)) throw refusal;
  const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
  throw new AppError('rate_limited', { headers: { 'Retry-After': String(seconds) } });
}

/** Returns a digest, so that all keys have one length and the table contains no email addresses. */
export const digestOf = (text: string) => base64url.encode(sha256(text), { includePadding: false });

/** Returns the network of one internet connection: the whole IP address in IPv4, a /64 in IPv6. */
export const lineOf = (address: string) => cut(address, { ipv4: 4, ipv6: 4 });

/** Returns the network of a site, which may have many internet connections: a /48 in IPv6. Undefined in IPv4. */
export const siteOf = (address: string) => cut(address, { ipv6: 3 });

/** Returns the account and the caller's network in one key: a /24 in IPv4, a /48 in IPv6. */
function accountByNetwork({ account, address }: Tried): string | undefined {
  const network = cut(address, { ipv4: 3, ipv6: 3 });
  return network === undefined ? undefined : `${network} ${account}`;
}

/**
 * `parts` is the number of parts to keep: an IPv4 address has four, an IPv6 address eight. Returns undefined for an unknown
 * address. Otherwise all callers whose address is unknown would share one count.
 */
function cut(address: string, parts: { ipv4?: number; ipv6?: number }): string | undefined {
  if (!ipaddr.isValid(address)) return undefined;
  const parsed = ipaddr.process(address);
  const wanted = parts[parsed.kind()];
  const all = parsed instanceof ipaddr.IPv4 ? parsed.octets : (parsed as ipaddr.IPv6).parts;
  return wanted === undefined ? undefined : `${parsed.kind()} ${all.slice(0, wanted).join('.')}`;
}

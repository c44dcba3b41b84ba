// Limits what strangers can try, such as guessing passwords or requesting mails. Tries are counted by e-mail address and
// by network address, in Postgres, for all instances together.
import ipaddr from 'ipaddr.js';
import { CompiledQuery } from 'kysely';
import { base64url } from 'oslo/encoding';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../../db/postgres/client.ts';
import { deleteRateLimit } from '../../db/rate-limits.ts';
import { AppError } from '../errors.ts';
import { sha256 } from '../runtime/hash.ts';

export type RateLimit = {
  /** Call it before the try itself, so that many at once cannot slip through. Throws 429 `rate_limited`. */
  countTry: (email: string, address: string) => Promise<Try>;
};

type Try = {
  /** After a success: clears the count of the e-mail address. `db` may be a transaction. */
  forgiveEmail: (db: Database) => Promise<void>;
  /** Gives the network address its try back, to spare a write only once half of its tries are used up. */
  forgiveAddress: () => Promise<void>;
};

type Store = ReturnType<typeof createStore>;
type Points = { windowSeconds: number; triesByEmail: number; triesByAddress: number };

export function createRateLimits(db: Database) {
  const store = createStore(db);
  return {
    /** Guesses of a password. */
    guessLimits: createRateLimit(store, '', {
      windowSeconds: 15 * 60,
      triesByEmail: 10,
      triesByAddress: 100,
    }),
    /** Mails that people request. */
    mailLimits: createRateLimit(store, 'mail-', {
      windowSeconds: 60 * 60,
      triesByEmail: 5,
      triesByAddress: 50,
    }),
  };
}

/** As much of a pg client as the library uses. */
function createStore(db: Database) {
  return {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows, numAffectedRows } = await db.executeQuery(CompiledQuery.raw(text, values));
      return { rows, rowCount: Number(numAffectedRows ?? rows.length) };
    },
  };
}

function createRateLimit(store: Store, prefix: string, points: Points): RateLimit {
  const shared = {
    storeClient: store,
    storeType: 'client',
    tableName: 'rate_limits',
    tableCreated: true,
    duration: points.windowSeconds,
    // The job `sweep` does that.
    clearExpiredByTimeout: false,
  };
  const limiter = (key: string, tries: number) =>
    new RateLimiterPostgres({ ...shared, keyPrefix: `${prefix}${key}`, points: tries });
  const byEmail = limiter('email', points.triesByEmail);
  const byAddress = limiter('address', points.triesByAddress);

  return {
    async countTry(email, address) {
      const [network, digest] = [networkOf(address), digestOf(email)];
      try {
        const ofAddress = await byAddress.consume(network);
        await byEmail.consume(digest);
        return {
          forgiveEmail: (db) => deleteRateLimit(db, byEmail.getKey(digest)),
          async forgiveAddress() {
            if (ofAddress.consumedPoints > points.triesByAddress / 2) await byAddress.reward(network);
          },
        };
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
        throw new AppError('rate_limited', { headers: { 'Retry-After': String(seconds) } });
      }
    },
  };
}

// Keys have one length, and the table holds no list of e-mail addresses.
const digestOf = (email: string) => base64url.encode(sha256(email), { includePadding: false });

/** What one customer line has: one address in IPv4, a /64 in IPv6. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::`;
}

// Slows what strangers may try, such as guessing passwords or having mails sent, by e-mail address and by the
// address of who tries, counted in Postgres for all instances together.
import ipaddr from 'ipaddr.js';
import { base64url } from 'oslo/encoding';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { DatabaseClient } from '../../db/client.ts';
import { AppError } from '../errors.ts';
import { sha256 } from '../runtime/hash.ts';

export type RateLimit = {
  /** Counts a try before it is made, so that many at once do not slip through. Throws 429 `rate_limited`. */
  countTry: (email: string, address: string) => Promise<Try>;
};

type Try = {
  /** It was right: the e-mail address starts afresh, and the address has its try back. */
  forgive: () => Promise<void>;
  /** Only that of the address, once it has used up half of its tries: only who shares it with many will need it. */
  forgiveAddress: () => Promise<void>;
  /** For who forgives the e-mail address in a statement of its own: the row of `rate_limits` to delete. */
  emailKey: string;
};

type Store = Pick<DatabaseClient, 'query'>;
type Points = { windowSeconds: number; triesByEmail: number; triesByAddress: number };

export function createRateLimits(store: Store) {
  return {
    /** Guesses of a password. */
    guessLimits: createRateLimit(store, '', {
      windowSeconds: 15 * 60,
      triesByEmail: 10,
      triesByAddress: 100,
    }),
    /** Mails that somebody asks for. */
    mailLimits: createRateLimit(store, 'mail-', {
      windowSeconds: 60 * 60,
      triesByEmail: 5,
      triesByAddress: 50,
    }),
  };
}

function createRateLimit(store: Store, prefix: string, points: Points): RateLimit {
  const shared = {
    storeClient: store,
    storeType: 'client',
    tableName: 'rate_limits',
    tableCreated: true,
    duration: points.windowSeconds,
    // Swept together with the rest, not by a timer of the library's own.
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
        const forgiveAddress = async () => {
          if (ofAddress.consumedPoints > points.triesByAddress / 2) await byAddress.reward(network);
        };
        return {
          async forgive() {
            await byEmail.delete(digest);
            await forgiveAddress();
          },
          forgiveAddress,
          emailKey: byEmail.getKey(digest),
        };
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
        throw new AppError('rate_limited', { headers: { 'Retry-After': String(seconds) } });
      }
    },
  };
}

// Keys of one length, and no list of addresses in the table.
const digestOf = (email: string) => base64url.encode(sha256(email), { includePadding: false });

/** One customer line: the address in IPv4, the /64 in IPv6, where each customer has that many addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::`;
}

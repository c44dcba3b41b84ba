// Slows the guessing of passwords, by address of the account and by address of the guesser, counted in
// Postgres for all instances together.
import ipaddr from 'ipaddr.js';
import { sha256 } from 'oslo/crypto';
import { base64url } from 'oslo/encoding';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { DatabaseClient } from '../../db/client.ts';
import { AppError } from '../errors.ts';

const windowSeconds = 15 * 60;
const triesByEmail = 10;
const triesByAddress = 100;

export type GuessLimits = {
  /** Counts a try before it is made, so that many at once do not slip through. Throws 429 `rate_limited`. */
  countTry: (email: string, address: string) => Promise<void>;
  /** The try was right: it does not count, and the e-mail address starts afresh. */
  forgiveTry: (email: string, address: string) => Promise<void>;
};

export function createGuessLimits(pool: DatabaseClient['pool']): GuessLimits {
  const shared = {
    storeClient: pool,
    tableName: 'rate_limits',
    tableCreated: true,
    duration: windowSeconds,
    // Swept together with the rest, not by a timer of the library's own.
    clearExpiredByTimeout: false,
  };
  const byEmail = new RateLimiterPostgres({ ...shared, keyPrefix: 'email', points: triesByEmail });
  const byAddress = new RateLimiterPostgres({ ...shared, keyPrefix: 'address', points: triesByAddress });

  return {
    async countTry(email, address) {
      try {
        await byAddress.consume(networkOf(address));
        await byEmail.consume(await digest(email));
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000));
        throw new AppError('rate_limited', { headers: { 'Retry-After': String(seconds) } });
      }
    },
    async forgiveTry(email, address) {
      await byEmail.delete(await digest(email));
      await byAddress.reward(networkOf(address));
    },
  };
}

// Keys of one length, and no list of addresses in the table.
async function digest(email: string): Promise<string> {
  return base64url.encode(new Uint8Array(await sha256(new TextEncoder().encode(email))), {
    includePadding: false,
  });
}

/** One customer line: the address in IPv4, the /64 in IPv6, where each customer has that many addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${parsed.toNormalizedString().split(':').slice(0, 4).join(':')}::`;
}

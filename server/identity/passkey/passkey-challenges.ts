// Anybody may ask for a challenge, so no row is stored for it. A challenge is a text with its expiry, signed for one purpose,
// one user and one browser (known by a cookie). A row says only that a challenge was used.
import { base64url, encodeHex } from 'oslo/encoding';
import type { Database } from '../../../db/postgres/client.ts';
import { readChallengeKey } from '../../../db/tables/passkey-challenge-keys.ts';
import { insertUsedChallenge } from '../../../db/tables/used-passkey-challenges.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { hmacSha256, matchesAny } from '../../sso/hmac.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from '../ground/tokens.ts';

const cookie = 'identity_passkey';
export const challengeSeconds = 300;

/**
 * A challenge for a login names no user, because the passkey itself names its owner. `arrive`, `take-back` and `new-address`
 * are for links in mails. With `arrive`, a person makes their first passkey.
 */
export type ChallengeUse =
  | { purpose: 'login'; userId?: undefined }
  | { purpose: 'confirm' | 'add' | 'arrive' | 'take-back' | 'new-address'; userId: string };

export type OpenChallenge = { challengeHash: Uint8Array; expiresAt: Date };

type Context = Pick<Dependencies, 'config' | 'read' | 'now'>;

export async function createChallenge(
  deps: Context,
  request: Request,
  use: ChallengeUse,
): Promise<{ challenge: string; setCookie: string }> {
  const { issuer } = deps.config;
  // The browser keeps the token that it has, because another tab may be waiting for an answer.
  const token = readToken(request, issuer, cookie) ?? createToken();
  const body = `${Math.floor(deps.now().getTime() / 1_000) + challengeSeconds}.${createToken()}`;
  return {
    challenge: `${body}.${await sign(deps, token, use, body)}`,
    setCookie: buildTokenCookie(issuer, cookie, token, 2 * challengeSeconds),
  };
}

/** `given` is in base64url. Undefined if the challenge is too old, or was made for another use or another browser. */
export async function openChallenge(
  deps: Context,
  request: Request,
  use: ChallengeUse,
  given: string,
): Promise<OpenChallenge | undefined> {
  const token = readToken(request, deps.config.issuer, cookie);
  const challenge = readText(given);
  const [, body, seconds, mac] = /^((\d{1,12})\.[\w-]{43})\.([0-9a-f]{64})$/.exec(challenge ?? '') ?? [];
  if (!token || !challenge || !body || !mac) return undefined;
  if (!matchesAny([await sign(deps, token, use, body)], [mac])) return undefined;
  const expiresAt = new Date(Number(seconds) * 1_000);
  return expiresAt > deps.now() ? { challengeHash: hashToken(challenge), expiresAt } : undefined;
}

/** Returns true only once for each challenge. */
export const consumeChallenge = (db: Database, challenge: OpenChallenge): Promise<boolean> =>
  insertUsedChallenge(db, challenge);

async function sign(
  { read }: Context,
  token: string,
  { purpose, userId = '' }: ChallengeUse,
  body: string,
): Promise<string> {
  const key = await readChallengeKey(read);
  // The parts contain no space, so two different challenges never have the same message.
  const message = `identity passkey challenge v1 ${purpose} ${userId} ${encodeHex(hashToken(token))} ${body}`;
  return encodeHex(await hmacSha256(key, new TextEncoder().encode(message)));
}

/** Reads the text that `given` holds in base64url. */
export function readText(given: string): string | undefined {
  try {
    return new TextDecoder().decode(base64url.decode(given, { strict: false }));
  } catch {
    return undefined;
  }
}

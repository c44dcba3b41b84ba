// Makes and reads ID tokens (contract 14.30, 14.49 and 14.50; OpenID Connect Core 1.0 section 2).
import { decodeProtectedHeader, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { base64url } from 'oslo/encoding';
import type { User } from '../../db/tables/users.ts';
import { findSigningKey, listForHints } from '../clients/keys.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { secondsOf } from '../identity/person/entry.ts';
import { buildStandardProfile } from '../identity/person/profile.ts';
import { sha256 } from '../runtime/hash.ts';
import { isOpenId, type OpenIdClient } from '../sso/clients.ts';

type Deps = Pick<Dependencies, 'clients' | 'config' | 'now'>;

const secondsValid = 60 * 60;

/** The claims that each scope gives. */
export const claimsOfScopes = {
  profile: ['name', 'updated_at'],
  email: ['email', 'email_verified', 'preferred_username'],
  groups: ['groups'],
} as const;

export function buildClaims(user: User, scope: readonly string[]): Record<string, unknown> {
  const { name, email, role, account } = buildStandardProfile(user);
  const all: Record<(typeof claimsOfScopes)[keyof typeof claimsOfScopes][number], unknown> = {
    ...{ name, updated_at: secondsOf(user.profileUpdatedAt) },
    ...{ email, email_verified: user.emailVerifiedAt !== null, preferred_username: email },
    groups: [role, ...account.capabilities],
  };
  const names = Object.entries(claimsOfScopes).flatMap(([each, claims]) =>
    scope.includes(each) ? claims : [],
  );
  return Object.fromEntries(names.map((claim) => [claim, all[claim]]));
}

/** Signs with the key that `findSigningKey` finds. Web Crypto signs on another thread. Throws if there is no key. */
export async function signToken({ clients, now }: Deps, typ: string, claims: JWTPayload): Promise<string> {
  const key = findSigningKey(clients.keys(), now());
  if (!key) throw new Error('There is no key to sign with.');
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid, typ }).sign(key.privateKey);
}

type Login = { user: User; sid: string; authTime: Date | null; amr: readonly string[] };

export function buildIdToken(
  deps: Deps,
  client: Pick<OpenIdClient, 'name'>,
  { user, sid, authTime, amr }: Login,
  { scope, nonce, accessToken }: { scope: readonly string[]; nonce: string | null; accessToken: string },
): Promise<string> {
  const iat = secondsOf(deps.now()) ?? 0;
  return signToken(deps, 'JWT', {
    ...{ iss: deps.config.issuer, aud: client.name, sub: user.id, iat, exp: iat + secondsValid },
    ...{ sid, auth_time: secondsOf(authTime), amr: [...amr] },
    at_hash: base64url.encode(sha256(accessToken).slice(0, 16), { includePadding: false }),
    ...(nonce !== null && { nonce }),
    ...buildClaims(user, scope),
  });
}

export type Hint = { client: OpenIdClient; sub: string; sid: string };

/**
 * Reads an ID token that a client sends back. The token may have expired. Returns undefined if it was not signed here for a
 * client that is turned on.
 */
export async function readHint({ clients, config, now }: Deps, token: string): Promise<Hint | undefined> {
  try {
    const { kid } = decodeProtectedHeader(token);
    const key = listForHints(clients.keys(), now()).find((each) => each.kid === kid);
    if (!key) return undefined;
    const { payload } = await jwtVerify(token, key.publicJwk, {
      ...{ algorithms: ['RS256'], issuer: config.issuer, typ: 'JWT' },
      // Only the signature is checked. The expiry is not (OpenID Connect RP-Initiated Logout 1.0 section 4).
      currentDate: new Date(0),
    });
    const { aud, sub, sid } = payload;
    const client = typeof aud === 'string' ? clients.get(aud) : undefined;
    return isOpenId(client) && sub !== undefined && typeof sid === 'string'
      ? { client, sub, sid }
      : undefined;
  } catch {
    return undefined;
  }
}

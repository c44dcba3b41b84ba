// A login's session, whole: token, cookie, life (contract section 9).
//
// The token is 256 random bits, shown to the browser once, in a cookie; the database has only its SHA-256, so
// who reads the database cannot log in. A session dies 14 days after it was last seen, 30 days after it was
// made, or when it is ended: every request reads it anew, so an end counts at once on every instance.
import { parseCookie } from 'cookie';
import { serializeCookie } from 'oslo/cookie';
import { sha256 } from 'oslo/crypto';
import { base64url } from 'oslo/encoding';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/client.ts';
import {
  findSessionByTokenHash,
  insertSession,
  type SessionLimits,
  type SessionRow,
  touchSession,
} from '../../db/sessions.ts';
import type { Visit } from '../http.ts';

const daySeconds = 24 * 60 * 60;
const idleSeconds = 14 * daySeconds;
const absoluteSeconds = 30 * daySeconds;
// How stale `last_seen_at` may get: spares a write on nearly every request.
const touchSeconds = 5 * 60;

export type Session = SessionRow;

/** The instants that a live session lies after. */
export function sessionLimits(now: Date): SessionLimits {
  return { createdAfter: secondsBefore(now, absoluteSeconds), seenAfter: secondsBefore(now, idleSeconds) };
}

const secondsBefore = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1_000);

/**
 * Makes a session; the result is the `Set-Cookie` value, and the only place that the token ever appears in.
 * `db` may be a transaction, so that session and reason come together.
 */
export async function startSession(
  db: Database,
  options: { userId: string; request: Request; visit: Visit; issuer: string; now: Date },
): Promise<string> {
  const token = base64url.encode(crypto.getRandomValues(new Uint8Array(32)), { includePadding: false });
  await insertSession(db, {
    id: uuidv7(),
    tokenHash: await hashToken(token),
    userId: options.userId,
    now: options.now,
    address: options.visit.address,
    userAgent: (options.request.headers.get('user-agent') ?? '').slice(0, 400),
  });
  return buildCookie(options.issuer, token, absoluteSeconds);
}

/** The `Set-Cookie` value that takes the cookie away. */
export function buildEndedCookie(issuer: string): string {
  return buildCookie(issuer, '', 0);
}

/**
 * Who is asking: a live session, `suspended` where the cookie is that of a user who was suspended since, or
 * undefined.
 */
export async function findSession(
  db: Database,
  request: Request,
  { issuer, now }: { issuer: string; now: Date },
): Promise<Session | 'suspended' | undefined> {
  const token = readToken(request, issuer);
  if (!token) return undefined;
  const session = await findSessionByTokenHash(db, await hashToken(token), sessionLimits(now));
  if (session?.user.suspendedAt) return 'suspended';
  if (!session || session.endedAt) return undefined;
  if (now.getTime() - session.lastSeenAt.getTime() > touchSeconds * 1_000)
    await touchSession(db, session.id, now);
  return session;
}

function readToken(request: Request, issuer: string): string | undefined {
  const token = parseCookie(request.headers.get('cookie') ?? '')[cookieName(issuer)];
  return token && /^[A-Za-z0-9_-]{43}$/.test(token) ? token : undefined;
}

async function hashToken(token: string): Promise<Uint8Array> {
  return new Uint8Array(await sha256(new TextEncoder().encode(token)));
}

// The prefix makes browsers refuse the cookie from a subdomain or over plain http (RFC 6265bis section 4.1.3).
function cookieName(issuer: string): string {
  return isSecure(issuer) ? '__Host-identity_session' : 'identity_session';
}

const isSecure = (issuer: string) => issuer.startsWith('https:');

function buildCookie(issuer: string, value: string, maxAgeSeconds: number): string {
  return serializeCookie(cookieName(issuer), value, {
    httpOnly: true,
    secure: isSecure(issuer),
    sameSite: 'lax',
    path: '/',
    maxAge: maxAgeSeconds,
  });
}

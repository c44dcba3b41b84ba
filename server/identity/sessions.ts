// A login's session, whole: token, cookie, life (contract section 9).
//
// The token is 256 random bits, shown to the browser once, in a cookie; the database has only its SHA-256, so
// who reads the database cannot log in. A session dies 14 days after it was last seen, 30 days after it was
// made, or when it is ended: every request reads it anew, so an end counts at once on every instance.
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/client.ts';
import {
  endSessionByTokenHash,
  findSessionByTokenHash,
  insertSession,
  type SessionLimits,
  type SessionRow,
  touchSession,
} from '../../db/sessions.ts';
import type { Visit } from '../http.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from './tokens.ts';

const cookie = 'identity_session';

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
 * Makes a session, in place of the one that this browser had; the result is the `Set-Cookie` value, and the only place that the token ever appears in.
 * `db` may be a transaction, so that session and reason come together.
 */
export async function startSession(
  db: Database,
  options: { userId: string; request: Request; visit: Visit; issuer: string; now: Date },
): Promise<string> {
  const previous = readToken(options.request, options.issuer, cookie);
  if (previous) await endSessionByTokenHash(db, hashToken(previous), options.now);
  const token = createToken();
  await insertSession(db, {
    id: uuidv7(),
    tokenHash: hashToken(token),
    userId: options.userId,
    now: options.now,
    address: options.visit.address,
    userAgent: (options.request.headers.get('user-agent') ?? '').slice(0, 400),
  });
  return buildTokenCookie(options.issuer, cookie, token, absoluteSeconds);
}

/** The `Set-Cookie` value that takes the cookie away. */
export function buildEndedCookie(issuer: string): string {
  return buildTokenCookie(issuer, cookie, '', 0);
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
  const token = readToken(request, issuer, cookie);
  if (!token) return undefined;
  const session = await findSessionByTokenHash(db, hashToken(token), sessionLimits(now));
  if (session?.user.suspendedAt) return 'suspended';
  if (!session || session.endedAt) return undefined;
  if (now.getTime() - session.lastSeenAt.getTime() > touchSeconds * 1_000)
    await touchSession(db, session.id, now);
  return session;
}

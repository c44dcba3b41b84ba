// Sessions: their token, cookie and life (contract section 9).
//
// The token is 256 random bits. The browser gets it once, in a cookie; the database stores only its SHA-256, so reading
// the database lets nobody log in. A session ends 14 days after it was last seen, 30 days after it started, or when it
// is ended. Every request reads it anew, so ending it takes effect at once on every instance.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { DB } from '../../db/schema.ts';
import {
  endSessionByTokenHash,
  endSessions,
  findSessionByTokenHash,
  insertSession,
  type Session,
  type SessionLimits,
  touchSession,
} from '../../db/sessions.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from './tokens.ts';

const cookie = 'identity_session';

const daySeconds = 24 * 60 * 60;
const idleSeconds = 14 * daySeconds;
const absoluteSeconds = 30 * daySeconds;
// `last_seen_at` may be this old: spares a write on nearly every request.
const touchSeconds = 5 * 60;

/** What a live session was started and last seen after. */
export function sessionLimits(now: Date): SessionLimits {
  return { createdAfter: secondsBefore(now, absoluteSeconds), seenAfter: secondsBefore(now, idleSeconds) };
}

const secondsBefore = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1_000);

/** `mail`: a password set through a mail token. */
export type SessionStart = 'password' | 'password_change' | 'mail' | 'hand_off';

/**
 * Starts a session, the only way there is, and ends the one that this browser had; after a new password, also every
 * other one of the user. The caller has locked the user and seen that they are not suspended. The result is the
 * `Set-Cookie` value, the only place that ever holds the token.
 */
export async function startSession(
  trx: Transaction<DB>,
  { config, now: clock }: Services,
  start: { userId: string; startedBy: SessionStart; request: Request; visit: Visit },
): Promise<string> {
  const { userId, startedBy, request, visit } = start;
  const now = clock();
  if (startedBy === 'password_change' || startedBy === 'mail') await endSessions(trx, userId, 'all', now);
  const previous = readToken(request, config.issuer, cookie);
  if (previous) await endSessionByTokenHash(trx, hashToken(previous), now);
  const token = createToken();
  await insertSession(trx, {
    id: uuidv7(),
    tokenHash: hashToken(token),
    userId,
    now,
    address: visit.address,
    userAgent: (request.headers.get('user-agent') ?? '').slice(0, 400),
  });
  return buildTokenCookie(config.issuer, cookie, token, absoluteSeconds);
}

/** The `Set-Cookie` value that deletes the cookie. */
export function buildEndedCookie(issuer: string): string {
  return buildTokenCookie(issuer, cookie, '', 0);
}

/** This browser's live session, `suspended` if its user has been suspended since it started, or undefined. */
export async function findSession(
  { config, db, read, now: clock }: Services,
  request: Request,
): Promise<Session | 'suspended' | undefined> {
  const token = readToken(request, config.issuer, cookie);
  if (!token) return undefined;
  const now = clock();
  const session = await findSessionByTokenHash(read, hashToken(token), sessionLimits(now));
  if (session?.user.suspendedAt) return 'suspended';
  if (!session || session.endedAt) return undefined;
  if (now.getTime() - session.lastSeenAt.getTime() > touchSeconds * 1_000)
    await touchSession(db, session.id, now);
  return session;
}

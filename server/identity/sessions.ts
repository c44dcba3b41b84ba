// A login's session, whole: token, cookie, life (contract section 9).
//
// The token is 256 random bits, shown to the browser once, in a cookie; the database has only its SHA-256, so
// who reads the database cannot log in. A session dies 14 days after it was last seen, 30 days after it was
// made, or when it is ended: every request reads it anew, so an end counts at once on every instance.
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/client.ts';
import { insertLogin, type PasswordProof } from '../../db/logins.ts';
import {
  endSessionByTokenHash,
  findSessionByTokenHash,
  insertSession,
  type SessionLimits,
  type SessionRow,
  touchSession,
} from '../../db/sessions.ts';
import type { Services } from '../backend.ts';
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

type StartOptions = { userId: string; request: Request; visit: Visit; issuer: string; now: Date };

/**
 * Makes a session, in place of the one that this browser had; the result is the `Set-Cookie` value, and the only place that the token ever appears in.
 * `db` may be a transaction, so that session and reason come together.
 */
export async function startSession(db: Database, options: StartOptions): Promise<string> {
  const { session, previousTokenHash, setCookie } = createSession(options);
  if (previousTokenHash) await endSessionByTokenHash(db, previousTokenHash, options.now);
  await insertSession(db, session);
  return setCookie;
}

/**
 * Likewise after a password, with its audit event, and the tries before it forgotten; undefined where the password was
 * changed, or the user suspended, since it was verified.
 */
export async function startSessionByPassword(
  db: Database,
  proof: PasswordProof,
  options: StartOptions,
): Promise<string | undefined> {
  const { session, previousTokenHash, setCookie } = createSession(options);
  const isStarted = await insertLogin(db, {
    ...session,
    ...proof,
    previousTokenHash,
    auditEventId: uuidv7(),
    requestId: options.visit.requestId,
  });
  return isStarted ? setCookie : undefined;
}

function createSession({ userId, request, visit, issuer, now }: StartOptions) {
  const previous = readToken(request, issuer, cookie);
  const token = createToken();
  const session = {
    id: uuidv7(),
    tokenHash: hashToken(token),
    userId,
    now,
    address: visit.address,
    userAgent: (request.headers.get('user-agent') ?? '').slice(0, 400),
  };
  return {
    session,
    previousTokenHash: previous ? hashToken(previous) : null,
    setCookie: buildTokenCookie(issuer, cookie, token, absoluteSeconds),
  };
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
  services: Pick<Services, 'config' | 'db' | 'read' | 'now'>,
  request: Request,
): Promise<Session | 'suspended' | undefined> {
  const token = readToken(request, services.config.issuer, cookie);
  if (!token) return undefined;
  const now = services.now();
  const session = await findSessionByTokenHash(services.read, hashToken(token), sessionLimits(now));
  if (session?.user.suspendedAt) return 'suspended';
  if (!session || session.endedAt) return undefined;
  if (now.getTime() - session.lastSeenAt.getTime() > touchSeconds * 1_000)
    await touchSession(services.db, session.id, now);
  return session;
}

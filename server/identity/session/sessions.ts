// Sessions (contract 9.16 to 9.22). The database stores only the SHA-256 of a token, so a reader of the database cannot log in.
// Every request reads its session anew, so the end of a session takes effect immediately on every instance.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { forgetDevices } from '../../../db/tables/devices.ts';
import { findSessionByTokenHash, type Session } from '../../../db/tables/live-sessions.ts';
import {
  type Amr,
  deferEndOfOldestSessions,
  deferEndOfSession,
  deferSession,
  endSessions,
  renewSession,
  type SessionLimits,
  touchSession,
} from '../../../db/tables/sessions.ts';
import type { User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { findLastUser, readDevice, rememberLogin, userAgentOf } from '../ground/device.ts';
import { notifyNewBrowser } from '../ground/notices.ts';
import { dropFormsOfOthers } from '../ground/refused-forms.ts';
import { buildTokenCookie, createToken, hashToken, readToken, readTokenAfter } from '../ground/tokens.ts';
import { trailOf } from '../ground/trail.ts';
import { lacksSecondFactor, mustSetUpFactor } from './second-factor.ts';

const cookie = 'identity_session';

const daySeconds = 24 * 60 * 60;
const idleSeconds = 14 * daySeconds;
const absoluteSeconds = 30 * daySeconds;
// `last_seen_at` may be up to this many seconds older than the last request, so that few requests need a write.
const touchSeconds = 5 * 60;

export function sessionLimits(now: Date): SessionLimits {
  return { createdAfter: secondsBefore(now, absoluteSeconds), seenAfter: secondsBefore(now, idleSeconds) };
}

/** Returns the latest time at which a session ends. */
export const sessionEndsAt = (createdAt: Date): Date =>
  new Date(createdAt.getTime() + absoluteSeconds * 1_000);

const secondsBefore = (now: Date, seconds: number) => new Date(now.getTime() - seconds * 1_000);

/** `code`: a second factor, after the password. `mail`: a password set through a mail token. */
export type SessionStart = 'password' | 'code' | 'passkey' | 'password_change' | 'mail' | 'hand_off';

/** A passkey counts as two factors: the authenticator has verified its owner. */
export const passkeyAmr: Amr[] = ['pop', 'mfa'];

export const amrOf: Record<SessionStart, Amr[]> = {
  password: ['pwd'],
  code: ['pwd', 'otp', 'mfa'],
  passkey: passkeyAmr,
  password_change: ['pwd'],
  mail: ['pwd'],
  hand_off: ['ext'],
};

const maxSessions = 50;

export type NewSession = {
  user: User;
  startedBy: SessionStart;
  amr?: Amr[];
  authTime?: Date | null;
  isFirstCredential?: boolean;
  request: Request;
  visit: Visit;
};

export async function startSession(
  trx: Transaction<DB>,
  deps: Dependencies,
  start: NewSession,
): Promise<string[]> {
  return (await openSession(trx, deps, start)).setCookies;
}

/**
 * This is the only way to start a session. If the browser has a live session of the same user, that session goes on under a new
 * token. A session of another user ends. If the login changes the password, the user's other sessions end, and their other
 * devices are forgotten. If the password was set by mail, all sessions end. The caller has locked the user and seen that they
 * are not suspended. Throws 401 `login_required` if the session that changes the password has ended. The tokens are only in
 * `setCookies`, the `Set-Cookie` values.
 */
export async function openSession(
  trx: Transaction<DB>,
  deps: Dependencies,
  start: NewSession,
): Promise<{ setCookies: string[]; isNew: boolean }> {
  const { config, now: clock } = deps;
  const { user, startedBy, amr = amrOf[startedBy], isFirstCredential = false, request, visit } = start;
  const { id: userId } = user;
  visit.userId = userId;
  const now = clock();
  const { authTime = now } = start;
  const token = createToken();
  const isCredential = startedBy !== 'hand_off';
  const session = {
    tokenHash: hashToken(token),
    userId,
    now,
    authTime: isCredential ? authTime : null,
    amr,
    address: visit.address,
    userAgent: userAgentOf(request),
    place: visit.place ?? null,
  };
  const limits = sessionLimits(now);
  const previous = readToken(request, config.issuer, cookie);
  const previousHash = previous === undefined ? undefined : hashToken(previous);
  const device = readDevice(deps, request);
  if (startedBy === 'mail') await endWhatPasswordOpened(trx, userId, now, device);
  // Every login is recorded, even if another event reports it, too. Changing a password is not a login.
  if (startedBy !== 'password_change')
    deferAuditEvent(trx, { ...trailOf(visit), type: 'session.started', reason: startedBy, userId });
  const isRenewed =
    previousHash !== undefined && (await renewSession(trx, { ...session, ...limits, previousHash }));
  if (startedBy === 'password_change') {
    // A session that has ended must not come back under a new token.
    if (!isRenewed) throw new AppError('login_required');
    await endSessions(trx, userId, { exceptTokenHash: session.tokenHash }, now);
    await forgetDevices(trx, userId, now, device);
  }
  if (!isRenewed) {
    if (previousHash) deferEndOfSession(trx, previousHash, now);
    const { createdAfter } = limits;
    deferEndOfOldestSessions(trx, { userId, now, createdAfter, keep: maxSessions - 1 });
    deferSession(trx, { id: uuidv7(), ...session });
  }
  if (startedBy !== 'password_change' && startedBy !== 'mail')
    await notifyNewBrowser(trx, deps, user, request);
  const deviceCookie = await rememberLogin(trx, deps, request, {
    userId,
    credentialAt: session.authTime,
    firstCredentialAt: isFirstCredential ? session.authTime : null,
  });
  const formsOfOthers = await dropFormsOfOthers(deps, request, userId);
  const setCookies = [
    buildTokenCookie(config.issuer, cookie, token, absoluteSeconds),
    deviceCookie,
    ...(formsOfOthers ? [formsOfOthers] : []),
  ];
  return { setCookies, isNew: !isRenewed };
}

/**
 * Call it when a password is set by mail. All sessions end, and all browsers are forgotten except `device`, the browser that
 * sets the password.
 */
export async function endWhatPasswordOpened(
  trx: Transaction<DB>,
  userId: string,
  now: Date,
  device?: Uint8Array,
): Promise<void> {
  await endSessions(trx, userId, 'all', now);
  await forgetDevices(trx, userId, now, device);
}

export function buildEndedCookie(issuer: string): string {
  return buildTokenCookie(issuer, cookie, '', 0);
}

type OpenSession<State> = Session & {
  state: State;
  /** The `sid` at the client that the caller asked about, if the session has been there. */
  sid: string | null;
};

export type LiveSession = OpenSession<'live'>;
export type SetUpSession = OpenSession<'must_set_up_factor'>;
export type LoggedInSession = LiveSession | SetUpSession;
export type BrowserSession = LoggedInSession | { state: 'suspended' };

/** With `client`, also reads the `sid` at that client. */
export async function findSession(
  { config, db, read, now: clock }: Pick<Dependencies, 'config' | 'db' | 'read' | 'now'>,
  request: Request,
  visit: Visit,
  client?: string,
): Promise<BrowserSession | undefined> {
  const token = readToken(request, config.issuer, cookie);
  if (!token) return undefined;
  const now = clock();
  const session = await findSessionByTokenHash(read, hashToken(token), sessionLimits(now), client);
  const isSuspended = Boolean(session?.user.suspendedAt);
  if (!session || (session.endedAt && !isSuspended)) return undefined;
  visit.userId = session.user.id;
  if (isSuspended) return { state: 'suspended' };
  if (now.getTime() - session.lastSeenAt.getTime() > touchSeconds * 1_000)
    await touchSession(db, session.id, now);
  return Object.assign(session, {
    state: mustSetUpFactor(config, session) ? 'must_set_up_factor' : 'live',
  } as const);
}

/** Finds the user of the cookie's session, live or ended. Without a cookie, finds the browser's last user (contract 9.176). */
export async function findLastSessionUser(
  deps: Pick<Dependencies, 'config' | 'db' | 'read'>,
  request: Request,
): Promise<string | null> {
  const token = readToken(request, deps.config.issuer, cookie);
  if (!token) return (await findLastUser(deps.db, deps, request)) ?? null;
  const ever = { createdAfter: new Date(0), seenAfter: new Date(0) };
  return (await findSessionByTokenHash(deps.read, hashToken(token), ever))?.user.id ?? null;
}

/** True even if the session has ended. */
export const hasSessionCookie = ({ config }: Pick<Dependencies, 'config'>, request: Request): boolean =>
  readToken(request, config.issuer, cookie) !== undefined;

/** Finds the live session that the browser has after the answer, and returns the hash of its token. */
export async function findSessionAfter(
  deps: Pick<Dependencies, 'config' | 'read' | 'now'>,
  answered: { request: Request; response: Response },
): Promise<Uint8Array | undefined> {
  const token = readTokenAfter(answered, deps.config.issuer, cookie);
  const tokenHash = token === undefined ? undefined : hashToken(token);
  return tokenHash && (await isSessionLive(deps, tokenHash)) ? tokenHash : undefined;
}

export async function isSessionLive(
  { read, now }: Pick<Dependencies, 'read' | 'now'>,
  tokenHash: Uint8Array,
): Promise<boolean> {
  const session = await findSessionByTokenHash(read, tokenHash, sessionLimits(now()));
  return session !== undefined && !session.endedAt && !session.user.suspendedAt;
}

/** Throws 401 `login_required`. */
export function requireLoggedIn(found: BrowserSession | undefined): LoggedInSession {
  if (!found || found.state === 'suspended') throw new AppError('login_required');
  return found;
}

/** Throws 401 `login_required`, and 403 `second_factor_required` if the user must first set up or give a second factor. */
export function requireLive(found: BrowserSession | undefined): LiveSession {
  const session = requireLoggedIn(found);
  if (session.state === 'must_set_up_factor') throw new AppError('second_factor_required');
  return session;
}

/** For routes that also answer people who are not logged in. Throws 403 `second_factor_required`. */
export async function findLiveSession(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<LiveSession | undefined> {
  const found = await findSession(deps, request, visit);
  return found && found.state !== 'suspended' ? requireLive(found) : undefined;
}

// For this long after giving a credential, a user is not asked again, even for changes that a session alone must not make.
const freshSeconds = 10 * 60;

export function isFresh({ authTime }: Pick<Session, 'authTime'>, now: Date): boolean {
  return authTime !== null && authTime > secondsBefore(now, freshSeconds);
}

/**
 * Every sensitive change needs this. Pages ask for the credential before (confirm.ts). This check stops requests that skip the
 * pages.
 */
export const isConfirmed = (
  { config, now }: Pick<Dependencies, 'config' | 'now'>,
  session: Session,
): boolean => isFresh(session, now()) && !lacksSecondFactor(config, session);

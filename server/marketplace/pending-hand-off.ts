// Pending hand-offs wait for a click on /continue in the same browser (contract 6.38 to 6.43). The click works only one time:
// it starts a session (`continue`) or links two accounts (`connect`). The URL has an id, but only the cookie gives access.

import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../db/postgres/client.ts';
import { inTransactionOf, setOrigin } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { findConnectChanges } from '../../db/tables/activity.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { type LinkedUser, lockLinkedUser } from '../../db/tables/linked-users.ts';
import {
  consumePendingHandOff,
  deferPendingHandOff,
  deletePendingHandOff,
  findPendingHandOff,
  findPendingIdByNonce,
  type PendingHandOff,
  type PendingKey,
} from '../../db/tables/pending-hand-offs.ts';
import { lockOpenSession } from '../../db/tables/sessions.ts';
import { lockUser } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import { isUuid } from '../basics/uuid.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { buildTokenCookie, createToken, hashToken, readTokens } from '../identity/ground/tokens.ts';
import { trailOf } from '../identity/ground/trail.ts';
import type { Actor } from '../identity/session/actor.ts';
import {
  findLiveSession,
  isConfirmed,
  type LoggedInSession,
  startSession,
} from '../identity/session/sessions.ts';
import { readParameter, readQuery, type Visit } from '../web/requests.ts';
import { connectProfile, provider, requireAllowed } from './accept-profile.ts';
import type { Applied, Occasion } from './apply-profile.ts';
import { type Changed, listChanges } from './import-report.ts';
import { marketplaceProfileSchema } from './payload.ts';

const cookiePrefix = 'identity_pending_';
const lifeSeconds = 600;
const maxPending = 5;

/**
 * Returns the path of the page that asks for the click (`next`), and the cookies to set. If this deletes older hand-offs, it
 * also ends their cookies.
 */
export async function keepPendingHandOff(
  { config, now }: Dependencies,
  trx: Transaction<DB>,
  request: Request,
  pending: PendingHandOff,
): Promise<{ next: string; setCookies: string[] }> {
  const id = uuidv7();
  const token = createToken();
  const expiresAt = new Date(now().getTime() + lifeSeconds * 1_000);
  deferPendingHandOff(trx, { ...pending, id, tokenHash: hashToken(token), expiresAt });
  const setCookies = [buildTokenCookie(config.issuer, cookiePrefix + id, token, lifeSeconds)];
  // Ids sort by time, so this deletes the oldest hand-offs.
  const pushedOut = readKeys(config.issuer, request)
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(maxPending - 1);
  for (const key of pushedOut) {
    await deletePendingHandOff(trx, key);
    setCookies.push(endCookie(config.issuer, key.id));
  }
  return { next: pagePath(id), setCookies };
}

const pagePath = (id: string) => `/continue?id=${id}`;

const endCookie = (issuer: string, id: string) => buildTokenCookie(issuer, cookiePrefix + id, '', 0);

function readKeys(issuer: string, request: Request): PendingKey[] {
  return [...readTokens(request, issuer, cookiePrefix)].flatMap(([id, token]) =>
    isUuid(id) ? [{ id, tokenHash: hashToken(token) }] : [],
  );
}

/** Returns the page to which the hand-off with this nonce has sent this browser, if nobody has clicked there yet. */
export async function findPendingPage(
  db: Database,
  { config, now }: Dependencies,
  request: Request,
  nonce: string,
): Promise<string | undefined> {
  const id = await findPendingIdByNonce(db, nonce, readKeys(config.issuer, request), now());
  return id && pagePath(id);
}

/**
 * Throws 404 `not_found` for a pending hand-off that is spent, unknown, expired or another browser's. If the user has logged
 * in, also throws what the click of `connect` would throw.
 */
export async function describePending(deps: Dependencies, request: Request, visit: Visit) {
  const { config, db, now } = deps;
  const key = requireKey(deps, request);
  const found = await findPendingHandOff(db, key, now());
  if (!found) throw gone();
  const session = await findLiveSession(deps, request, visit);
  const { kind, user } = found;
  const profile = marketplaceProfileSchema.parse(found.profile);
  const needsLogin = kind === 'connect' && !mayConnect(deps, session, user.id);
  return {
    path: pagePath(key.id),
    kind,
    marketplace: { name: profile.name, account: profile.account.name ?? profile.name },
    /** `connect` shows nothing of an account before its user has logged in. */
    account:
      kind === 'continue'
        ? { name: user.name, email: user.email, isProved: user.emailVerifiedAt !== null }
        : undefined,
    present: session && session.user.id !== user.id ? session.user.email : undefined,
    needsLogin,
    changed:
      kind === 'connect' && !needsLogin
        ? await inTransactionOf(
            visit,
            db,
            async (trx) => listChanged(await connectProfile(trx, { now, config, request }, profile, user.id)),
            'rollback',
          )
        : undefined,
  };
}

/**
 * Does the work of the click and uses the hand-off up. With the result `login_needed`, the user must first log in, and the
 * hand-off is not used up. Throws 404 `not_found` if the hand-off or the marketplace link no longer works, 403
 * `account_suspended` or `admin_not_allowed`, and 409 `email_in_use`.
 */
export async function confirmPending(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<{ next: string; setCookies: string[] } | 'login_needed'> {
  const { config, db, now } = deps;
  const key = requireKey(deps, request);
  const session = await findLiveSession(deps, request, visit);
  return inTransactionOf(visit, db, async (trx) => {
    // All code locks in one order, so that no transactions deadlock: first the link, then the user, then this row.
    const seen = await findPendingHandOff(trx, key, now());
    if (!seen) throw gone();
    if (seen.kind === 'connect' && !mayConnect(deps, session, seen.user.id)) return 'login_needed';
    const known = await lockLinkedUser(trx, provider, seen.externalId);
    await lockUser(trx, { id: seen.user.id });
    // A session that ended while this request waited must not create a link.
    if (seen.kind === 'connect' && !(session && (await lockOpenSession(trx, session.id))))
      return 'login_needed';
    const pending = await consumePendingHandOff(trx, key, now());
    if (!pending) throw gone();
    const { userId, requestId } = visit;
    setOrigin(trx, { by: 'person', user: userId, request: requestId, cause: pending.nonce });
    const done =
      pending.kind === 'connect'
        ? await connect(trx, { now, config, request }, pending)
        : {
            next: pending.returnTo,
            setCookies: await logIn(trx, deps, { known, pending, session, request, visit }),
          };
    deferAuditEvent(trx, {
      type: 'hand_off.confirmed',
      reason: pending.kind,
      ...trailOf(visit),
      userId: pending.userId,
      details: { id: pending.externalId, ...('changed' in done && { members: done.changed }) },
    });
    return { next: done.next, setCookies: [...done.setCookies, endCookie(config.issuer, key.id)] };
  });
}

async function connect(trx: Transaction<DB>, occasion: Occasion, pending: PendingHandOff) {
  const profile = marketplaceProfileSchema.parse(pending.profile);
  const changed = listChanged(await connectProfile(trx, occasion, profile, pending.userId));
  const next = `/profile/connected?${new URLSearchParams({ next: pending.returnTo })}`;
  return { next, setCookies: [], changed };
}

const listChanged = (applied: Applied | undefined): Changed => (applied ? listChanges(applied).changed : {});

/**
 * Returns what the user's last click on Connect changed, for the page after it. Null if there was no such click in the last ten
 * minutes.
 */
export async function findLastConnect({ clients, db, now }: Dependencies, { session }: Actor) {
  const since = new Date(now().getTime() - lifeSeconds * 1_000);
  const changed = (await findConnectChanges(db, session.user.id, since)) as Changed | undefined;
  const { title, loginUrl } = clients.get(provider) ?? {};
  return changed ? { changed, marketplace: { title, href: loginUrl } } : null;
}

async function logIn(
  trx: Transaction<DB>,
  deps: Dependencies,
  click: {
    known: LinkedUser | undefined;
    pending: PendingHandOff;
    session: LoggedInSession | undefined;
    request: Request;
    visit: Visit;
  },
): Promise<string[]> {
  const { known, pending, session, request, visit } = click;
  const { userId } = pending;
  if (known?.user.id !== userId || known.isSleeping) throw gone();
  const user = requireAllowed(known.user);
  if (session?.user.id === userId) return [];
  return startSession(trx, deps, { user, startedBy: 'hand_off', request, visit });
}

/** Linking needs a recent login, because an old session must not make this change. */
function mayConnect(deps: Dependencies, session: LoggedInSession | undefined, userId: string): boolean {
  return session?.user.id === userId && isConfirmed(deps, session);
}

/** Throws 404 `not_found` if this browser has no cookie for the id in the URL of the page. */
function requireKey({ config }: Dependencies, request: Request): PendingKey {
  const id = readParameter(readQuery(request), 'id');
  const key = readKeys(config.issuer, request).find((each) => each.id === id);
  if (!key) throw gone();
  return key;
}

const gone = () =>
  new AppError('not_found', {
    detail:
      'This page has been used or has expired. Go back to the marketplace and open the link there again.',
  });

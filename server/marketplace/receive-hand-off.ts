// An inbound hand-off (contract 6.9 and 6.36 to 6.38). One transaction stores the nonce and everything that the hand-off causes.
import type { Transaction } from 'kysely';
import { v5 as uuidv5 } from 'uuid';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { deferAuditEvent, recordAuditEvent } from '../../db/tables/audit-events.ts';
import { lockLinkedUser } from '../../db/tables/linked-users.ts';
import { consumeNonce } from '../../db/tables/nonces.ts';
import { lockUser } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { findLastUser } from '../identity/ground/device.ts';
import { trailOf } from '../identity/ground/trail.ts';
import { findSession, startSession } from '../identity/session/sessions.ts';
import type { HandOffResult } from '../metrics/results.ts';
import { EnvelopeError, type VerifiedEnvelope, verifyEnvelope } from '../sso/envelope.ts';
import { readOwnPath, type Visit } from '../web/requests.ts';
import { acceptProfile, type ProfileOutcome, provider } from './accept-profile.ts';
import { type MarketplacePayload, marketplacePayloadSchema } from './payload.ts';
import { findPendingPage, keepPendingHandOff } from './pending-hand-off.ts';

const leewayMs = 30_000;

type HandOff = VerifiedEnvelope<MarketplacePayload>;

/** Does not use the nonce up. Throws an EnvelopeError, or 404 `not_configured`. */
async function verifyHandOff({ config, now }: Dependencies, params: URLSearchParams): Promise<HandOff> {
  const inbound = config.marketplaceInbound;
  if (!inbound) throw new AppError('not_configured');
  const handOff = await verifyEnvelope(params, {
    secrets: inbound.secrets,
    schema: marketplacePayloadSchema,
    iss: inbound.issuer,
    aud: config.issuer,
    client: provider,
    ttlSeconds: inbound.ttlSeconds,
    now: now(),
  });
  if (handOff.claims.profile.profile_updated_at.getTime() > now().getTime() + leewayMs) {
    throw new EnvelopeError('payload_expired', 'profile_updated_at in the future');
  }
  return handOff;
}

type Received = { next: string; setCookies: string[]; result: HandOffResult };

/**
 * Logs the user in only if they were the last to log in with this browser. Otherwise the person is asked on /continue, because
 * any site can make a browser send this GET. A used hand-off only redirects: its browser to /continue, or its user to `return_to`
 * (contract 6.84 and 6.85). Throws what `verifyHandOff` and `acceptProfile` throw, 409 `nonce_replayed`, and an EnvelopeError for a hand-off older than a
 * restore of the database.
 */
export async function receiveHandOff(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  params: URLSearchParams,
): Promise<Received> {
  const { claims, keepNonceUntil, secret } = await verifyHandOff(deps, params);
  visit.client = provider;
  deps.metrics.countCall(provider, 'hand_off', secret);
  const { nonce, profile } = claims;
  const issuedAt = new Date(claims.iat * 1_000);
  const returnTo = readOwnPath(claims.return_to) ?? '/profile';
  // The session is only used to see who is logged in. For this, a session is enough even if its user must still set up a second
  // factor.
  const present = await findSession(deps, request, visit);
  const session = present?.state === 'suspended' ? undefined : present;

  return inTransaction(
    deps.db,
    { by: 'marketplace', request: visit.requestId, cause: nonce },
    async (trx): Promise<Received> => {
      const [use, known] = await Promise.all([
        consumeNonce(trx, { audience: `inbound:${provider}`, nonce, issuedAt, expiresAt: keepNonceUntil }),
        lockLinkedUser(trx, provider, profile.id),
      ]);
      if (use === 'before_restore') throw new EnvelopeError('payload_expired', 'iat before restore');
      if (use === 'used') {
        const isTheirs = known !== undefined && !known.isSleeping && known.user.id === session?.user.id;
        const next = (await findPendingPage(trx, deps, request, nonce)) ?? (isTheirs ? returnTo : undefined);
        if (next === undefined) throw new AppError('nonce_replayed', { reason: 'nonce used before' });
        return { next, setCookies: [], result: 'repeated' };
      }
      const occasion = { now: deps.now, config: deps.config, request };
      const outcome = await acceptProfile(trx, occasion, profile, known);
      await recordOutcome(trx, visit, profile.id, outcome);
      const { userId } = outcome;
      if (outcome.kind === 'accepted') {
        if (session?.user.id === userId) return { next: returnTo, setCookies: [], result: 'accepted' };
        if (!session && (await findLastUser(trx, deps, request)) === userId) {
          const user = await lockUser(trx, { id: userId });
          if (!user) throw new Error('an accepted profile has a user');
          const setCookies = await startSession(trx, deps, {
            user,
            startedBy: 'hand_off',
            request,
            visit,
          });
          return { next: returnTo, setCookies, result: 'accepted' };
        }
      }
      const kind = outcome.kind === 'accepted' ? 'continue' : 'connect';
      const pending = { kind, provider, externalId: profile.id, userId, nonce, profile, returnTo } as const;
      return { ...(await keepPendingHandOff(deps, trx, request, pending)), result: kind };
    },
    { commit: 'with_writes', deadline: visit.deadline },
  ).catch(async (error) => {
    if (error instanceof AppError && error.code !== 'nonce_replayed')
      await recordRefusal(deps, visit, claims, error);
    throw error;
  });
}

/** The sender never sees the exact reason. A refused hand-off can be sent again and again, but its event is stored only once. */
async function recordRefusal(
  { db }: Dependencies,
  { address, requestId }: Visit,
  { nonce, profile }: MarketplacePayload,
  refusal: AppError,
): Promise<void> {
  await recordAuditEvent(db, {
    id: uuidv5(nonce, refusedHandOffs),
    type: 'hand_off.refused',
    reason: [refusal.code, refusal.reason].filter(Boolean).join(': '),
    address,
    requestId,
    details: { id: profile.id },
  });
}

// The namespace of these ids can be any fixed UUID.
const refusedHandOffs = '0e8f4ad0-5c3b-4f0e-9d57-6a1f1b8c2e11';

async function recordOutcome(
  trx: Transaction<DB>,
  visit: Visit,
  externalId: string,
  outcome: ProfileOutcome,
): Promise<void> {
  const trail = { ...trailOf(visit), userId: outcome.userId, details: { id: externalId } };
  if (outcome.kind === 'connect_needed') {
    deferAuditEvent(trx, { ...trail, type: 'hand_off.pending', reason: 'connect_needed' });
    return;
  }
  deferAuditEvent(trx, { ...trail, type: 'hand_off.accepted', reason: outcome.change });
  const reason = outcome.applied?.kept.email;
  if (reason === 'email_in_use' || reason === 'email_refused')
    deferAuditEvent(trx, { ...trail, type: 'hand_off.email_skipped', reason });
}

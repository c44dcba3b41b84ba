// An inbound hand-off (contract section 6), from its query to a session: the nonce, the profile, the audit event and
// the session, or the hand-off kept pending, come together or not at all.
import type { Transaction } from 'kysely';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { consumeNonce } from '../../db/nonces.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { type LinkedUser, lockLinkedUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import { readOwnPath, type Visit } from '../http/requests.ts';
import { findSession, startSession } from '../identity/sessions.ts';
import type { Services } from '../services.ts';
import { EnvelopeError, type VerifiedEnvelope, verifyEnvelope } from '../sso/envelope.ts';
import { acceptProfile, type ProfileOutcome, provider } from './accept-profile.ts';
import { type MarketplacePayload, marketplacePayloadSchema } from './payload.ts';
import { keepPendingHandOff } from './pending-hand-off.ts';

const leewayMs = 30_000;

type HandOff = VerifiedEnvelope<MarketplacePayload>;

/** The hand-off of a query; nothing is used up. Throws an EnvelopeError, or 404 `not_configured`. */
export async function verifyHandOff({ config, now }: Services, params: URLSearchParams): Promise<HandOff> {
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

/** Where the browser goes next. `setCookie` is a `Set-Cookie` value. */
export type ReceivedHandOff =
  | { kind: 'logged_in'; setCookie: string; next: string }
  /** The hand-off is pending: the user has to log in with their own password first. */
  | { kind: 'login_needed'; setCookie: string; next: string }
  /** Somebody else is logged in here and has to agree to the switch. Nothing was used up. */
  | { kind: 'switch_needed' };

/** Throws what `verifyHandOff` and `acceptProfile` throw, and 409 `nonce_replayed`. */
export async function receiveHandOff(
  services: Services,
  request: Request,
  visit: Visit,
  { params, maySwitchUser }: { params: URLSearchParams; maySwitchUser: boolean },
): Promise<ReceivedHandOff> {
  const { db, now } = services;
  const handOff = await verifyHandOff(services, params);
  const { profile, return_to } = handOff.claims;
  const next = readOwnPath(return_to) ?? '/profile';
  const session = await findSession(services, request);
  const presentUserId = session && session !== 'suspended' ? session.user.id : undefined;

  return inTransaction(db, async (trx): Promise<ReceivedHandOff> => {
    const known = await consumeAndLock(trx, handOff);
    const outcome = await acceptProfile(trx, profile, known, now());
    await recordOutcome(trx, visit, profile.id, outcome);
    const { userId } = outcome;
    if (outcome.kind === 'login_needed') {
      const setCookie = await keepPendingHandOff(services, trx, userId, profile);
      return { kind: 'login_needed', setCookie, next };
    }
    if (presentUserId && presentUserId !== userId && !maySwitchUser) throw new SwitchNeeded();
    const setCookie = await startSession(trx, services, { userId, startedBy: 'hand_off', request, visit });
    return { kind: 'logged_in', setCookie, next };
  }).catch((error): ReceivedHandOff => {
    if (error instanceof SwitchNeeded) return { kind: 'switch_needed' };
    throw error;
  });
}

/** Rolls the transaction back, so that the same hand-off still works after the click. */
class SwitchNeeded extends Error {}

/** Uses the nonce up, and locks the user who is linked to the marketplace's id. */
async function consumeAndLock(
  trx: Transaction<DB>,
  { claims, keepNonceUntil }: HandOff,
): Promise<LinkedUser | undefined> {
  const nonce = { audience: `inbound:${provider}`, nonce: claims.nonce, expiresAt: keepNonceUntil };
  const [isFresh, known] = await Promise.all([
    consumeNonce(trx, nonce),
    lockLinkedUser(trx, provider, claims.profile.id),
  ]);
  if (!isFresh) throw new AppError('nonce_replayed', { reason: 'nonce used before' });
  return known;
}

async function recordOutcome(
  trx: Transaction<DB>,
  { address, requestId }: Visit,
  externalId: string,
  outcome: ProfileOutcome,
): Promise<void> {
  const trail = { userId: outcome.userId, address, requestId, details: { id: externalId } };
  if (outcome.kind === 'login_needed') {
    await recordAuditEvent(trx, { ...trail, type: 'hand_off.pending', reason: 'password_to_be_proved' });
    return;
  }
  await recordAuditEvent(trx, { ...trail, type: 'hand_off.accepted', reason: outcome.change });
  if (outcome.skippedEmail)
    await recordAuditEvent(trx, { ...trail, type: 'hand_off.email_skipped', reason: 'email_in_use' });
}

// GET /sso/marketplace/callback (contract section 6): during the migration the legacy marketplace hands its
// logged-in users over. POST is the same after the page that asks before switching users.
import { recordAuditEvent } from '../../db/audit-events.ts';
import { consumeNonce } from '../../db/nonces.ts';
import { inTransaction } from '../../db/transactions.ts';
import { lockLinkedUser } from '../../db/users.ts';
import type { Services } from '../backend.ts';
import { AppError } from '../errors.ts';
import {
  isSpeculative,
  readForm,
  readOwnPath,
  readQuery,
  redirect,
  requireMethod,
  respond,
  toAppError,
  type Visit,
} from '../http.ts';
import { acceptProfile, provider } from '../identity/hand-off.ts';
import { type MarketplacePayload, marketplacePayloadSchema } from '../identity/marketplace-payload.ts';
import { keepPendingLink } from '../identity/pending-link.ts';
import { findSession, startSession } from '../identity/sessions.ts';
import { EnvelopeError, openEnvelope } from '../sso/envelope.ts';

const headers = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
const leewayMs = 30_000;

/** This browser is logged in as somebody else. */
class SwitchNeeded extends Error {}

export async function marketplaceCallback(
  services: Services,
  request: Request,
  visit: Visit,
): Promise<Response> {
  requireMethod(request, ['GET', 'HEAD', 'POST']);
  if (isSpeculative(request)) return respond(204, headers);
  try {
    return await accept(services, request, visit);
  } catch (error) {
    const refusal = toAppError(error).with(headers);
    await recordRefusal(services, visit, refusal);
    throw refusal;
  }
}

async function accept(services: Services, request: Request, visit: Visit): Promise<Response> {
  const { config, db, now } = services;
  const isConfirmed = request.method === 'POST';
  const params = isConfirmed ? new URLSearchParams([...(await readForm(request))]) : readQuery(request);
  const { payload, keepNonceUntil } = await openHandOff(services, params);
  const session = await findSession(services, request);
  const present = session && session !== 'suspended' ? session.user.id : undefined;

  const result = await inTransaction(db, async (trx) => {
    const nonce = { audience: `inbound:${provider}`, nonce: payload.nonce, expiresAt: keepNonceUntil };
    const [isFresh, known] = await Promise.all([
      consumeNonce(trx, nonce),
      lockLinkedUser(trx, provider, payload.profile.id),
    ]);
    if (!isFresh) throw new EnvelopeError('nonce_replayed', 'nonce used before');
    const outcome = await acceptProfile(trx, payload.profile, known, now());
    const { userId } = outcome;
    const trail = {
      userId,
      address: visit.address,
      requestId: visit.requestId,
      details: { id: payload.profile.id },
    };
    if (outcome.kind === 'proof_needed') {
      await recordAuditEvent(trx, { ...trail, type: 'hand_off.pending', reason: 'password_to_be_proved' });
      return { outcome, cookie: await keepPendingLink(services, trx, userId, payload.profile) };
    }
    // Asked only about what would be accepted; rolled back, so that nothing is used up before the click.
    if (present && present !== userId && !isConfirmed) throw new SwitchNeeded();
    await recordAuditEvent(trx, { ...trail, type: 'hand_off.accepted', reason: outcome.change });
    if (outcome.skippedEmail)
      await recordAuditEvent(trx, { ...trail, type: 'hand_off.email_skipped', reason: 'email_in_use' });
    return {
      outcome,
      cookie: await startSession(trx, { userId, request, visit, issuer: config.issuer, now: now() }),
    };
  }).catch((error) => {
    if (error instanceof SwitchNeeded) return undefined;
    throw error;
  });
  if (!result) return redirect(`/switch?${params}`, headers);

  const { outcome, cookie } = result;
  const next = readOwnPath(payload.return_to) ?? '/profile';
  const target = outcome.kind === 'accepted' ? next : `/login?prompt=login&next=${encodeURIComponent(next)}`;
  return redirect(target, { ...headers, 'Set-Cookie': cookie });
}

/** The verified payload; its nonce is left for the transaction. Throws an EnvelopeError or 404 `not_configured`. */
export async function openHandOff(
  { config, now }: Services,
  params: URLSearchParams,
): Promise<{ payload: MarketplacePayload; keepNonceUntil: Date }> {
  const inbound = config.marketplaceInbound;
  if (!inbound) throw new AppError('not_configured');
  let keepNonceUntil = now();
  const payload = await openEnvelope(params, {
    secrets: inbound.secrets,
    schema: marketplacePayloadSchema,
    iss: inbound.issuer,
    aud: config.issuer,
    client: provider,
    ttlSeconds: inbound.ttlSeconds,
    now: now(),
    consumeNonce: async (_nonce, expiresAt) => {
      keepNonceUntil = expiresAt;
      return true;
    },
  });
  if (payload.profile.profile_updated_at.getTime() > now().getTime() + leewayMs) {
    throw new EnvelopeError('payload_expired', 'profile_updated_at in the future');
  }
  return { payload, keepNonceUntil };
}

/** The precise reason, which the outside is not told; never the payload. */
async function recordRefusal(
  { db }: Services,
  { address, requestId }: Visit,
  refusal: AppError,
): Promise<void> {
  if (refusal.status >= 500) return;
  const reason = [refusal.code, refusal.reason].filter(Boolean).join(': ');
  await recordAuditEvent(db, { type: 'hand_off.refused', reason, address, requestId });
}

// Pending hand-offs: those whose address belongs to a user with a password. Each waits ten minutes for that user to
// log in, in the same browser: only the token in its cookie leads to it.
import { type AuditEvent, recordAuditEvent } from '../../db/audit-events.ts';
import {
  consumePendingHandOff,
  findPendingHandOffEmail,
  insertPendingHandOff,
} from '../../db/pending-hand-offs.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { AppError } from '../errors.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from '../identity/tokens.ts';
import type { Services } from '../services.ts';
import { linkAfterLogin, provider } from './accept-profile.ts';
import { type MarketplaceProfile, marketplaceProfileSchema } from './payload.ts';

const cookie = 'identity_pending_hand_off';
const lifeSeconds = 600;

/** The result is the `Set-Cookie` value that ties the hand-off to this browser. */
export async function keepPendingHandOff(
  { config, now }: Services,
  trx: Database,
  userId: string,
  profile: MarketplaceProfile,
): Promise<string> {
  const token = createToken();
  await insertPendingHandOff(trx, {
    tokenHash: hashToken(token),
    provider,
    externalId: profile.id,
    userId,
    profile,
    expiresAt: new Date(now().getTime() + lifeSeconds * 1_000),
  });
  return buildTokenCookie(config.issuer, cookie, token, lifeSeconds);
}

/** The address of the user whom this browser's pending hand-off waits for. */
export async function findPendingEmail(
  { config, db, now }: Services,
  request: Request,
): Promise<string | undefined> {
  const token = readToken(request, config.issuer, cookie);
  return token && findPendingHandOffEmail(db, hashToken(token), now());
}

/** Call it after each login with a password. Does nothing if no hand-off in this browser waits for that user. */
export async function finishPendingHandOff(
  { config, db, now }: Services,
  request: Request,
  trail: Omit<AuditEvent, 'type'> & { userId: string },
): Promise<void> {
  const token = readToken(request, config.issuer, cookie);
  if (!token) return;
  const key = { tokenHash: hashToken(token), userId: trail.userId, now: now() };
  await inTransaction(db, async (trx) => {
    const stored = await consumePendingHandOff(trx, key);
    if (stored === undefined) return;
    const profile = marketplaceProfileSchema.parse(stored);
    const isLinked = await linkAfterLogin(trx, trail.userId, profile, now());
    await recordAuditEvent(trx, {
      ...trail,
      type: isLinked ? 'hand_off.accepted' : 'hand_off.refused',
      reason: isLinked ? 'linked_by_password' : 'linked_otherwise',
    });
  }).catch(async (error) => {
    if (!(error instanceof AppError)) throw error;
    // The link is refused, but the login stands.
    await recordAuditEvent(db, { ...trail, type: 'hand_off.refused', reason: error.reason ?? error.code });
  });
}

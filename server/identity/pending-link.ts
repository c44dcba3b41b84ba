// A hand-off whose address has a password here waits until that user proves it, in this browser, for ten
// minutes: the cookie's token is the only way to it, and it is about one marketplace id and one user.
import { type AuditEvent, recordAuditEvent } from '../../db/audit-events.ts';
import type { Database } from '../../db/client.ts';
import { consumePendingLink, findPendingEmail, insertPendingLink } from '../../db/pending-links.ts';
import { inTransaction } from '../../db/transactions.ts';
import type { Services } from '../backend.ts';
import { AppError } from '../errors.ts';
import { finishLink, provider } from './hand-off.ts';
import { type MarketplaceProfile, marketplaceProfileSchema } from './marketplace-payload.ts';
import { buildTokenCookie, createToken, hashToken, readToken } from './tokens.ts';

const cookie = 'identity_pending_link';
const lifeSeconds = 600;

/** The `Set-Cookie` value that binds it to the browser. */
export async function keepPendingLink(
  { config, now }: Services,
  trx: Database,
  userId: string,
  profile: MarketplaceProfile,
): Promise<string> {
  const token = createToken();
  await insertPendingLink(trx, {
    tokenHash: hashToken(token),
    provider,
    externalId: profile.id,
    userId,
    profile,
    expiresAt: new Date(now().getTime() + lifeSeconds * 1_000),
  });
  return buildTokenCookie(config.issuer, cookie, token, lifeSeconds);
}

/** The address whose password this browser is asked for, if any. */
export async function findPendingLink(
  { config, db, now }: Services,
  request: Request,
): Promise<string | undefined> {
  const token = readToken(request, config.issuer, cookie);
  return token && findPendingEmail(db, hashToken(token), now());
}

/** Called with the user whose password was just proved; does nothing where nothing waits for that user. */
export async function finishPendingLink(
  { config, db, now }: Services,
  request: Request,
  trail: Omit<AuditEvent, 'type'> & { userId: string },
): Promise<void> {
  const token = readToken(request, config.issuer, cookie);
  if (!token) return;
  const key = { tokenHash: hashToken(token), userId: trail.userId, now: now() };
  await inTransaction(db, async (trx) => {
    const pending = await consumePendingLink(trx, key);
    if (!pending) return;
    const profile = marketplaceProfileSchema.parse(pending.profile);
    const isLinked = await finishLink(trx, trail.userId, profile, now());
    const type = isLinked ? 'hand_off.accepted' : 'hand_off.refused';
    await recordAuditEvent(trx, {
      ...trail,
      type,
      reason: isLinked ? 'linked_by_password' : 'linked_otherwise',
    });
  }).catch(async (error) => {
    // The login itself stands.
    if (!(error instanceof AppError)) throw error;
    await recordAuditEvent(db, { ...trail, type: 'hand_off.refused', reason: error.reason ?? error.code });
  });
}

// What an operator does for somebody who has lost every second factor.
import type { Transaction } from 'kysely';
import { deferAuditEvent } from '../../db/audit-events.ts';
import { deleteAuthenticator } from '../../db/authenticators.ts';
import { deletePasskeys } from '../../db/passkeys.ts';
import { deleteRecoveryCodes } from '../../db/recovery-codes.ts';
import type { DB } from '../../db/schema.ts';
import { endSessions } from '../../db/sessions.ts';
import type { User } from '../../db/users.ts';
import type { Services } from '../services.ts';
import { notify } from './notices.ts';
import { hasSecondFactor } from './second-factor.ts';

/** Ends their sessions, too. False where there was none. The caller has locked the user. */
export async function removeFactors(
  trx: Transaction<DB>,
  services: Pick<Services, 'now'>,
  user: User,
): Promise<boolean> {
  if (!hasSecondFactor(user)) return false;
  await deleteFactors(trx, user.id);
  await endSessions(trx, user.id, 'all', services.now());
  deferAuditEvent(trx, { type: 'factors.removed', userId: user.id, details: { by: 'cli' } });
  await notify(trx, services, user, 'factors_removed');
  return true;
}

/** Which to keep: the app, or the passkey of that id. */
export type KeptFactor = { app: true } | { passkey: string };

/** Every kind of second factor, or those added since, but for the one to keep; and recovery codes always. */
export async function deleteFactors(
  trx: Transaction<DB>,
  userId: string,
  { since, keeps }: { since?: Date | undefined; keeps?: KeptFactor | undefined } = {},
): Promise<void> {
  if (!keeps || !('app' in keeps)) await deleteAuthenticator(trx, userId, since);
  await deleteRecoveryCodes(trx, userId);
  await deletePasskeys(trx, userId, { since, keep: keeps && 'passkey' in keeps ? keeps.passkey : undefined });
}

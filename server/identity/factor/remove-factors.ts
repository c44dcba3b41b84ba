// What an operator does for somebody who has lost every second factor.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { deleteAuthenticator } from '../../../db/tables/authenticators.ts';
import { deletePasskeys } from '../../../db/tables/passkeys.ts';
import { deleteRecoveryCodes } from '../../../db/tables/recovery-codes.ts';
import { endSessions } from '../../../db/tables/sessions.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { notify } from '../ground/notices.ts';
import { hasSecondFactor } from '../session/second-factor.ts';

/** Removes every second factor and ends all sessions. False if there was no factor. The caller has locked the user. */
export async function removeFactors(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: User,
): Promise<boolean> {
  if (!hasSecondFactor(user)) return false;
  await deleteFactors(trx, user.id);
  await endSessions(trx, user.id, 'all', deps.now());
  deferAuditEvent(trx, { type: 'factors.removed', userId: user.id, details: { by: 'cli' } });
  await notify(trx, deps, user, 'factors_removed');
  return true;
}

/** The factor to keep: the app, or the passkey with that id. */
export type KeptFactor = { app: true } | { passkey: string };

/** Deletes every second factor, or those added since `since`, except the one to keep. Recovery codes always go. */
export async function deleteFactors(
  trx: Transaction<DB>,
  userId: string,
  { since, keeps }: { since?: Date | undefined; keeps?: KeptFactor | undefined } = {},
): Promise<void> {
  if (!keeps || !('app' in keeps)) await deleteAuthenticator(trx, userId, since);
  await deleteRecoveryCodes(trx, userId);
  await deletePasskeys(trx, userId, { since, keep: keeps && 'passkey' in keeps ? keeps.passkey : undefined });
}

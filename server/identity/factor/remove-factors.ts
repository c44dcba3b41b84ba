// What an operator does for a user who has lost every second factor.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { deletePasskeys } from '../../../db/tables/passkeys.ts';
import { deleteRecoveryCodes } from '../../../db/tables/recovery-codes.ts';
import { endSessions } from '../../../db/tables/sessions.ts';
import { type CodeFactor, nobodysHash, type User, updateUser } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { notify } from '../ground/notices.ts';
import type { Recorder } from '../ground/trail.ts';
import { hasSecondFactor } from '../session/second-factor.ts';
import { allCodeFactors, codeFactorRules } from './code-factors.ts';

/**
 * Deletes all second factors and ends all sessions. Also ends the password, unless `keepsPassword`. Returns false if the user
 * had no factor. The caller has locked the user.
 */
export async function removeFactors(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  user: User,
  { keepsPassword, record }: { keepsPassword: boolean; record: Recorder },
): Promise<boolean> {
  if (!hasSecondFactor(user)) return false;
  const { id: userId, email: recipient, holdsEmail } = user;
  const now = deps.now();
  await deleteFactors(trx, userId);
  // The password alone must open nothing. So the user gets a hash that no password matches (contract 2.62).
  if (!keepsPassword) await updateUser(trx, userId, { passwordHash: nobodysHash });
  await endSessions(trx, userId, 'all', now);
  record({ type: 'factors.removed' });
  await notify(trx, deps, user, 'factors_removed');
  if (holdsEmail) deferMail(trx, { kind: 'set_password', userId, recipient, details: {}, now });
  return true;
}

export type KeptFactors = { codeFactors: CodeFactor[] } | { passkey: string };

/**
 * Deletes the second factors except `keeps`. With `since`, deletes only factors added since then. Recovery codes are always
 * deleted.
 */
export async function deleteFactors(
  trx: Transaction<DB>,
  userId: string,
  { since, keeps }: { since?: Date | undefined; keeps?: KeptFactors | undefined } = {},
): Promise<void> {
  const kept = keeps && 'codeFactors' in keeps ? keeps.codeFactors : [];
  for (const kind of allCodeFactors)
    if (!kept.includes(kind)) await codeFactorRules[kind].delete(trx, userId, since);
  await deleteRecoveryCodes(trx, userId);
  await deletePasskeys(trx, userId, { since, keep: keeps && 'passkey' in keeps ? keeps.passkey : undefined });
}

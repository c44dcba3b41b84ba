import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { findPasswordOwner } from '../../../db/tables/password-owners.ts';
import type { Amr } from '../../../db/tables/sessions.ts';
import { lockUser, updateUser } from '../../../db/tables/users.ts';
import { invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { voidMails } from '../ground/address-proof.ts';
import { readDevice } from '../ground/device.ts';
import { nameOwnBrowser } from '../ground/established-browsers.ts';
import { notify } from '../ground/notices.ts';
import { type Actor, recordActorEvent, requireOwnAllowance } from '../session/actor.ts';
import { needsMoreThanPassword } from '../session/second-factor.ts';
import { startSession } from '../session/sessions.ts';
import { countNewPassword, requireGoodPassword } from './new-password.ts';
import { requireOwnPassword, wrongPassword } from './own-password.ts';
import { isSamePassword } from './passwords.ts';

/**
 * Returns `Set-Cookie` values. Throws 422 `validation_failed`, 401 `login_required`, and what `guessPassword` and
 * `countNewPassword` throw.
 */
export async function changePassword(
  deps: Dependencies,
  actor: Actor,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
): Promise<string[]> {
  const { session, request, visit } = actor;
  const device = readDevice(deps, request);
  const owner = device && (await findPasswordOwner(deps.read, { userId: session.user.id }, device));
  const ownBrowser = owner && nameOwnBrowser(owner, deps.now());
  await requireOwnAllowance(deps, actor, 'password.changed', ownBrowser);
  // The try is counted before the current password is checked, because that check hashes a password and counts only wrong ones.
  // So without this count, somebody who knows the password could make us hash endlessly.
  const counted = await countNewPassword(deps, visit, { userId: session.user.id, ownBrowser });
  const currentHash = await requireOwnPassword(deps, actor, currentPassword).catch(async (error) => {
    await counted.giveBack(deps.db);
    throw error;
  });
  // Both passwords were typed here, so they may be compared. A password set by mail is not compared with the old one, because the
  // answer would help a reader of the mailbox to guess the old one.
  if (isSamePassword(currentPassword, newPassword))
    throw invalidMember('/newPassword', faultWords.password_same);
  const { email, name } = session.user;
  const given = { password: newPassword, email, name };
  const { hash, giveBack } = await requireGoodPassword(deps, visit, counted, given);
  const passwordHash = await hash();
  return inTransactionOf(visit, deps.db, async (trx) => {
    const user = await lockUser(trx, { id: session.user.id, passwordHash: currentHash });
    if (!user) throw wrongPassword();
    await updateUser(trx, user.id, { passwordHash });
    // An earlier mail may have a link that could undo the change.
    await voidMails(trx, user.id, 'password_set');
    await recordActorEvent(trx, actor, { type: 'password.changed' }, ownBrowser);
    await notify(trx, deps, user, 'password_changed', request);
    // A second factor given in this session stays valid.
    const amr = session.amr.includes('mfa') ? (session.amr as Amr[]) : undefined;
    // A user who needs more than a password has given only the password here. That is no credential for them, so the time of
    // their last credential stays the same.
    const authTime = needsMoreThanPassword(deps.config, user) ? session.authTime : undefined;
    const start = { user, startedBy: 'password_change', amr, authTime, request, visit } as const;
    const setCookies = await startSession(trx, deps, start);
    await giveBack(trx);
    return setCookies;
  });
}

// Changing a password in a session, with the current one.
import { findPasswordOwner } from '../../db/password-owners.ts';
import { inTransactionOf } from '../../db/postgres/transactions.ts';
import type { Amr } from '../../db/sessions.ts';
import { lockUser, updateUser } from '../../db/users.ts';
import type { Services } from '../services.ts';
import { type Actor, recordActorEvent, requireOwnAllowance } from './actor.ts';
import { voidMails } from './address-proof.ts';
import { readDevice } from './device.ts';
import { nameOwnBrowser } from './established-browsers.ts';
import { notify } from './notices.ts';
import { requireOwnPassword, wrongPassword } from './own-password.ts';
import { hashNewPassword } from './passwords.ts';
import { startSession } from './sessions.ts';

/**
 * Ends every other session of the user, and forgets their other devices. The result are the `Set-Cookie` values of the
 * actor's own session, which goes on. Throws 422 `validation_failed` for a wrong current
 * password and for a new one that is not good, 401 `login_required` if the session has ended meanwhile, and what `guessPassword` throws.
 */
export async function changePassword(
  services: Services,
  actor: Actor,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
): Promise<string[]> {
  const { session, request, visit } = actor;
  const ownBrowser = await findOwnBrowser(services, request, session.user.id);
  await requireOwnAllowance(services, actor, 'password.changed', ownBrowser);
  const currentHash = await requireOwnPassword(services, actor, currentPassword);
  const { email, name } = session.user;
  const passwordHash = await hashNewPassword(visit, newPassword, { config: services.config, email, name });
  return inTransactionOf(visit, services.db, async (trx) => {
    const user = await lockUser(trx, { id: session.user.id, passwordHash: currentHash });
    if (!user) throw wrongPassword();
    await updateUser(trx, user.id, { passwordHash });
    // An old mail could undo the change.
    await voidMails(trx, user.id);
    await recordActorEvent(trx, actor, { type: 'password.changed' }, ownBrowser);
    await notify(trx, services, user, 'password_changed', request);
    // A second factor that was given in this session still counts.
    const amr = session.amr.includes('mfa') ? (session.amr as Amr[]) : undefined;
    return startSession(trx, services, { user, startedBy: 'password_change', amr, request, visit });
  });
}

async function findOwnBrowser(
  services: Services,
  request: Request,
  userId: string,
): Promise<string | undefined> {
  const device = readDevice(services, request);
  const owner = device && (await findPasswordOwner(services.read, { userId }, device));
  return owner && nameOwnBrowser(owner, services.now());
}

// The role of an invitation to the staff (contract 12.214 to 12.217). The user whom the link made gets the role when they add
// their second factor. A trigger (end_staff_invitations in db/schema.sql) ends the invitation if the user's password or email
// address changes before that, because a reader of the mailbox can change both. It also ends the invitation if the
// administrator who sent it is no longer an administrator.
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { listExternalLinks, lockExternalLinks } from '../../../db/tables/external-links.ts';
import { endSessions } from '../../../db/tables/sessions.ts';
import {
  deleteInvitation,
  findInvitationTakenBy,
  type Invitation,
} from '../../../db/tables/staff-invitations.ts';
import { setUserRole, type User } from '../../../db/tables/users.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { hasOwnLogin } from './customers.ts';
import { tellOtherAdministrators } from './tell-administrators.ts';
import { trailOf } from './trail.ts';

/** Returns false for people whom the marketplace lets in, because they must not be staff here (contract 12.16). */
export async function isFitForRole(db: Database, user: User): Promise<boolean> {
  const isLinked = (await listExternalLinks(db, user.id)).some(({ isSleeping }) => !isSleeping);
  return user.emailVerifiedAt !== null && hasOwnLogin(user) && !isLinked;
}

export async function describeInvitation(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  userId: string,
): Promise<Pick<Invitation, 'role' | 'expiresAt'> | undefined> {
  const found = await findInvitationTakenBy(db, { userId, now: now() });
  return found && { role: found.role, expiresAt: found.expiresAt };
}

/** Call it before the user is locked, because links are locked before their user. */
export async function lockLinksOfInvited(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  userId: string,
): Promise<void> {
  if (await findInvitationTakenBy(trx, { userId, now: now() })) await lockExternalLinks(trx, userId);
}

/** Call it in the transaction that adds a second factor. The caller has locked the user. The user's other sessions end. */
export async function giveInvitedRole(
  trx: Transaction<DB>,
  deps: Pick<Dependencies, 'now'>,
  { user, session, visit }: { user: User; session: { id: string }; visit: Visit },
): Promise<void> {
  const now = deps.now();
  const invitation = await findInvitationTakenBy(trx, { userId: user.id, now });
  if (!invitation || user.role !== 'user' || !(await isFitForRole(trx, user))) return;
  // If another transaction is ending the invitation, this waits for it, and then finds no invitation.
  if (!(await deleteInvitation(trx, invitation.id))) return;
  const { id, role, invitedBy } = invitation;
  await setUserRole(trx, user.id, role);
  await endSessions(trx, user.id, { exceptId: session.id }, now);
  deferAuditEvent(trx, {
    ...{ ...trailOf(visit), type: 'role.taken', userId: user.id },
    details: { role, invitation: id },
  });
  await tellOtherAdministrators(trx, deps, {
    ...{ kind: 'role_granted', actorId: invitedBy ?? undefined, tellsActor: true, about: user.id },
    details: { was: user.role, role },
  });
}

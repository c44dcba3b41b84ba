// The only writer of `staff_invitations`, apart from the trigger that ends invitations (end_staff_invitations in
// db/schema.sql). A row lasts until the role is given, the invitation is withdrawn, or the invitation expires.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export type InvitedRole = 'manager' | 'admin';

export type Invitation = {
  id: string;
  email: string;
  role: InvitedRole;
  /** Null if a command on the server invited the person. */
  invitedBy: string | null;
  sentAt: Date;
  expiresAt: Date;
  /** The user that the link has made. Null until the link is used. */
  takenBy: string | null;
};

const select = (db: Database) =>
  db
    .selectFrom('staff_invitations')
    .select(['id', 'email', 'invited_by as invitedBy', 'sent_at as sentAt', 'expires_at as expiresAt'])
    .select([sql<InvitedRole>`role`.as('role'), 'taken_by as takenBy']);

/** Replaces an earlier invitation to the address. */
export async function setInvitation(
  trx: Transaction<DB>,
  { id, email, role, invitedBy, sentAt, expiresAt }: Omit<Invitation, 'takenBy'>,
): Promise<void> {
  const values = { id, role, invited_by: invitedBy, sent_at: sentAt, expires_at: expiresAt, taken_by: null };
  await trx
    .insertInto('staff_invitations')
    .values({ email, ...values })
    .onConflict((conflict) => conflict.column('email').doUpdateSet(values))
    .execute();
}

export const listInvitations = (db: Database, { now, limit }: { now: Date; limit: number }) =>
  select(db)
    .where('expires_at', '>', now)
    .orderBy('sent_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

export const findInvitation = (db: Database, id: string): Promise<Invitation | undefined> =>
  select(db).where('id', '=', id).executeTakeFirst();

export const lockInvitation = (trx: Transaction<DB>, id: string): Promise<Invitation | undefined> =>
  select(trx).where('id', '=', id).forUpdate().executeTakeFirst();

export const findInvitationTakenBy = (
  db: Database,
  { userId, now }: { userId: string; now: Date },
): Promise<Invitation | undefined> =>
  select(db).where('taken_by', '=', userId).where('expires_at', '>', now).executeTakeFirst();

export async function setTakenBy(
  trx: Transaction<DB>,
  { id, userId }: { id: string; userId: string },
): Promise<void> {
  await trx.updateTable('staff_invitations').set({ taken_by: userId }).where('id', '=', id).execute();
}

/** Returns true for only one caller. */
export async function deleteInvitation(trx: Transaction<DB>, id: string): Promise<boolean> {
  const result = await trx.deleteFrom('staff_invitations').where('id', '=', id).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

export async function deleteInvitationsTo(db: Database, emails: string[]): Promise<void> {
  await db.deleteFrom('staff_invitations').where(sql<boolean>`email = any(${emails})`).execute();
}

export async function deleteAllInvitations(db: Database): Promise<void> {
  await db.deleteFrom('staff_invitations').execute();
}

// The only writer of `take_back_changes`: what each mailbox of a user was told of by a mail with a take-back link (contract
// section 2). The link works as long as its row is here and has time left.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';

export type Told =
  | 'passkey_added'
  | 'authenticator_added'
  | 'recovery_codes_made'
  | 'email_changed'
  | 'deletion_requested';

export type TakeBackChange = {
  id: string;
  /** The mailbox that was told. */
  email: string;
  what: Told;
  at: Date;
  /** When its link ends. For a suspended user, whose time stands still, that is after the year 3000. */
  expiresAt: Date;
  /** The kind of browser; null where no person's browser did it. */
  device: string | null;
};

export async function insertTakeBackChange(
  db: Database,
  { userId, ...change }: TakeBackChange & { userId: string },
): Promise<void> {
  await db
    .insertInto('take_back_changes')
    .values({
      id: change.id,
      user_id: userId,
      email: change.email,
      what: change.what,
      at: change.at,
      expires_at: change.expiresAt,
      device: change.device,
    })
    .execute();
}

/** When the user's last change of these was made. */
export async function findLastChangeAt(db: Database, userId: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('take_back_changes')
    .select('at')
    .where('user_id', '=', userId)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

/** The oldest first. Those whose link is over are kept for a week more: the window of another may begin with them. */
export async function listTakeBackChanges(db: Database, userId: string): Promise<TakeBackChange[]> {
  return db
    .selectFrom('take_back_changes')
    .select(['id', 'email', sql<Told>`what`.as('what'), 'at', 'expires_at as expiresAt', 'device'])
    .where('user_id', '=', userId)
    .orderBy('at')
    .orderBy('id')
    .execute();
}

/** Ends the links of these. The caller has locked the user, and deleted the mails that are still to be sent. */
export async function deleteTakeBackChanges(db: Database, userId: string, ids: string[]): Promise<void> {
  await db
    .deleteFrom('take_back_changes')
    .where('user_id', '=', userId)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
}

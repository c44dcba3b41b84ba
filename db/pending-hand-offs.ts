// The only writer of `pending_hand_offs`: inbound hand-offs that wait for a user to log in.
import type { Database } from './postgres/client.ts';

export type NewPendingHandOff = {
  tokenHash: Uint8Array;
  provider: string;
  externalId: string;
  /** The user who has to log in. */
  userId: string;
  profile: object;
  expiresAt: Date;
};

export async function insertPendingHandOff(db: Database, pending: NewPendingHandOff): Promise<void> {
  await db
    .insertInto('pending_hand_offs')
    .values({
      token_hash: pending.tokenHash,
      provider: pending.provider,
      external_id: pending.externalId,
      user_id: pending.userId,
      profile: JSON.stringify(pending.profile),
      expires_at: pending.expiresAt,
    })
    .execute();
}

/** The address of the user who has to log in. */
export async function findPendingHandOffEmail(
  db: Database,
  tokenHash: Uint8Array,
  now: Date,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('pending_hand_offs as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .select('u.email')
    .where('p.token_hash', '=', tokenHash)
    .where('p.expires_at', '>', now)
    .executeTakeFirst();
  return row?.email;
}

/** The profile, as stored. One guarded statement: works once, in time, for the user who had to log in. */
export async function consumePendingHandOff(
  db: Database,
  { tokenHash, userId, now }: { tokenHash: Uint8Array; userId: string; now: Date },
): Promise<unknown> {
  const row = await db
    .deleteFrom('pending_hand_offs')
    .where('token_hash', '=', tokenHash)
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .returning('profile')
    .executeTakeFirst();
  return row?.profile;
}

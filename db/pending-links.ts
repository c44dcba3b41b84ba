// The only writer of `pending_links`: hand-offs that wait for the password of the user whose address they carry.
import type { Database } from './client.ts';

export type PendingLink = { provider: string; externalId: string; userId: string; profile: unknown };

export async function insertPendingLink(
  db: Database,
  link: PendingLink & { tokenHash: Uint8Array; expiresAt: Date },
): Promise<void> {
  await db
    .insertInto('pending_links')
    .values({
      token_hash: link.tokenHash,
      provider: link.provider,
      external_id: link.externalId,
      user_id: link.userId,
      profile: JSON.stringify(link.profile),
      expires_at: link.expiresAt,
    })
    .execute();
}

/** The address that the password is asked for. */
export async function findPendingEmail(
  db: Database,
  tokenHash: Uint8Array,
  now: Date,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('pending_links as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .select('u.email')
    .where('p.token_hash', '=', tokenHash)
    .where('p.expires_at', '>', now)
    .executeTakeFirst();
  return row?.email;
}

/** One guarded statement: given out once, to the user that it is about, in time. */
export async function consumePendingLink(
  db: Database,
  { tokenHash, userId, now }: { tokenHash: Uint8Array; userId: string; now: Date },
): Promise<PendingLink | undefined> {
  return db
    .deleteFrom('pending_links')
    .where('token_hash', '=', tokenHash)
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .returning(['provider', 'external_id as externalId', 'user_id as userId', 'profile'])
    .executeTakeFirst();
}

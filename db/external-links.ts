// The only writer of `external_links`: who a user is at another system. Identity there is the id, never the
// e-mail address.
import type { Database } from './client.ts';

/** Who that user is at the other system. Not held. */
export async function findExternalId(
  db: Database,
  provider: string,
  userId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('external_links')
    .select('external_id')
    .where('provider', '=', provider)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.external_id;
}

export async function insertLink(
  db: Database,
  link: { provider: string; externalId: string; userId: string },
): Promise<void> {
  await db
    .insertInto('external_links')
    .values({ provider: link.provider, external_id: link.externalId, user_id: link.userId })
    .execute();
}

export async function setLinkApplied(
  db: Database,
  provider: string,
  externalId: string,
  at: Date,
): Promise<void> {
  await db
    .updateTable('external_links')
    .set({ applied_profile_updated_at: at })
    .where('provider', '=', provider)
    .where('external_id', '=', externalId)
    .execute();
}

export async function deleteLinks(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('external_links').where('user_id', '=', userId).execute();
}

// The only writer of `external_links`: the link between a user and their id at another system, which is never an
// e-mail address.
import type { Database } from './postgres/client.ts';

/** The user's id at the other system. Takes no lock. */
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

export type ExternalLink = {
  provider: string;
  externalId: string;
  userId: string;
  /** Of the newest profile applied. */
  appliedProfileUpdatedAt: Date;
};

export async function insertExternalLink(db: Database, link: ExternalLink): Promise<void> {
  await db
    .insertInto('external_links')
    .values({
      provider: link.provider,
      external_id: link.externalId,
      user_id: link.userId,
      applied_profile_updated_at: link.appliedProfileUpdatedAt,
    })
    .execute();
}

export async function setExternalLinkApplied(
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

export async function deleteExternalLinks(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('external_links').where('user_id', '=', userId).execute();
}

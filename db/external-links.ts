// The only writer of `external_links`: the link between a user and their id at another system, which is never an
// email address.
import type { Transaction } from 'kysely';
import type { Database } from './postgres/client.ts';
import type { DB } from './schema.ts';

/** The user's id at the other system, if that link is awake. Takes no lock. */
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
    .where('sleeping_since', 'is', null)
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

/** Makes that link, awake, in place of the one that this id had and of the one that this user had. */
export async function setExternalLink(trx: Transaction<DB>, link: ExternalLink): Promise<void> {
  await trx
    .deleteFrom('external_links')
    .where('provider', '=', link.provider)
    .where('user_id', '=', link.userId)
    .where('external_id', '<>', link.externalId)
    .execute();
  const row = { user_id: link.userId, applied_profile_updated_at: link.appliedProfileUpdatedAt };
  await trx
    .insertInto('external_links')
    .values({ provider: link.provider, external_id: link.externalId, ...row })
    .onConflict((conflict) =>
      conflict.columns(['provider', 'external_id']).doUpdateSet({ ...row, sleeping_since: null }),
    )
    .execute();
}

export async function setExternalLinkApplied(
  trx: Transaction<DB>,
  provider: string,
  externalId: string,
  at: Date,
): Promise<void> {
  await trx
    .updateTable('external_links')
    .set({ applied_profile_updated_at: at })
    .where('provider', '=', provider)
    .where('external_id', '=', externalId)
    .execute();
}

/** Before the user, as everywhere: another order could deadlock. */
export async function lockExternalLinks(db: Database, userId: string): Promise<void> {
  await db.selectFrom('external_links').select('user_id').where('user_id', '=', userId).forUpdate().execute();
}

/** All of the user's, until each is connected again. */
export async function sleepExternalLinks(trx: Transaction<DB>, userId: string, now: Date): Promise<void> {
  await trx
    .updateTable('external_links')
    .set({ sleeping_since: now })
    .where('user_id', '=', userId)
    .where('sleeping_since', 'is', null)
    .execute();
}

export type ListedLink = { provider: string; externalId: string; createdAt: Date; isSleeping: boolean };

export async function listExternalLinks(db: Database, userId: string): Promise<ListedLink[]> {
  const rows = await db
    .selectFrom('external_links')
    .select([
      'provider',
      'external_id as externalId',
      'created_at as createdAt',
      'sleeping_since as sleepingSince',
    ])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute();
  return rows.map(({ sleepingSince, ...link }) => ({ ...link, isSleeping: sleepingSince !== null }));
}

/** Whether the user had that link. */
export async function deleteExternalLink(
  trx: Transaction<DB>,
  { provider, externalId, userId }: { provider: string; externalId: string; userId: string },
): Promise<boolean> {
  const result = await trx
    .deleteFrom('external_links')
    .where('provider', '=', provider)
    .where('external_id', '=', externalId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

// The only writer of `external_links`: the link between a user and their id at another system. The id is never an email address.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import type { Rights } from './accounts.ts';

export async function findExternalLink(
  db: Database,
  provider: string,
  userId: string,
): Promise<{ externalId: string; isSleeping: boolean } | undefined> {
  const row = await db
    .selectFrom('external_links')
    .select(['external_id as externalId', 'sleeping_since as sleepingSince'])
    .where('provider', '=', provider)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && { externalId: row.externalId, isSleeping: row.sleepingSince !== null };
}

type LinkKey = { provider: string; externalId: string };

export async function isLinked(db: Database, { provider, externalId }: LinkKey): Promise<boolean> {
  const query = db.selectFrom('external_links').select('user_id').where('provider', '=', provider);
  return (await query.where('external_id', '=', externalId).executeTakeFirst()) !== undefined;
}

/** What a profile says about the account's rights. `at` is the profile's time. */
export type Said = Rights & { at: Date };

/** After a profile has said that the account is verified, no later profile takes that back. */
const toRow = ({ capabilities, isVerified, at }: Said) => ({
  capabilities,
  verified: sql<boolean>`coalesce(external_links.verified, false) or ${isVerified}`,
  said_at: at,
  applied_profile_updated_at: at,
});

/**
 * Replaces the earlier link of this id and the earlier link of this user. If a newer profile of this id has said something about
 * rights, what it said stays.
 */
export async function setExternalLink(
  trx: Transaction<DB>,
  { provider, externalId, userId }: LinkKey & { userId: string },
  said: Said,
): Promise<void> {
  await trx
    .deleteFrom('external_links')
    .where('provider', '=', provider)
    .where('user_id', '=', userId)
    .where('external_id', '<>', externalId)
    .execute();
  const row = toRow(said);
  await trx
    .insertInto('external_links')
    .values({ ...row, user_id: userId, provider, external_id: externalId, verified: said.isVerified })
    .onConflict((conflict) =>
      conflict.columns(['provider', 'external_id']).doUpdateSet({ user_id: userId, sleeping_since: null }),
    )
    .execute();
  await trx
    .updateTable('external_links')
    .set(row)
    .where('provider', '=', provider)
    .where('external_id', '=', externalId)
    .where((eb) =>
      eb.or([eb('applied_profile_updated_at', 'is', null), eb('applied_profile_updated_at', '<', said.at)]),
    )
    .execute();
}

export async function setExternalLinkSaid(trx: Transaction<DB>, link: LinkKey, said: Said): Promise<void> {
  await trx
    .updateTable('external_links')
    .set(toRow(said))
    .where('provider', '=', link.provider)
    .where('external_id', '=', link.externalId)
    .execute();
}

export async function wakeExternalLink(trx: Transaction<DB>, link: LinkKey): Promise<void> {
  await trx
    .updateTable('external_links')
    .set({ sleeping_since: null })
    .where('provider', '=', link.provider)
    .where('external_id', '=', link.externalId)
    .execute();
}

/** Call this before you lock the user, because another order could deadlock. */
export async function lockExternalLinks(db: Database, userId: string): Promise<void> {
  await db.selectFrom('external_links').select('user_id').where('user_id', '=', userId).forUpdate().execute();
}

/** Locks links in the same order for all callers, so that they do not deadlock. */
export async function lockExternalIds(
  trx: Transaction<DB>,
  provider: string,
  externalIds: string[],
): Promise<void> {
  await trx
    .selectFrom('external_links')
    .select('user_id')
    .where('provider', '=', provider)
    .where(sql<boolean>`external_id = any(${externalIds})`)
    .orderBy('external_id')
    .forUpdate()
    .execute();
}

/** A sleeping link does not work until its user connects it again. */
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

/** Returns false if the user has no such link. */
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

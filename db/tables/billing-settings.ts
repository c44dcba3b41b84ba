// The only writer of `billing_settings`, which has a row for each version of the settings. The settings of a version never
// change. A version that is not in force yet can be stopped.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/** `settings` is `BillingSettings` of server/billing/settings/settings.ts. */
export type SettingsVersion = { version: number; settings: unknown };

export type MadeVersion = SettingsVersion & {
  countsFrom: Date;
  /**
   * Whether the time at which the version takes effect has passed. This is also true if the version was stopped before that time.
   */
  hasBegun: boolean;
  madeAt: Date;
  /** `staff`, or the name of an operator. */
  madeBy: string;
  actorId: string | null;
  why: string;
  stoppedAt: Date | null;
};

/** Returns the version that is in force by the database's clock, or undefined while there is no seller. */
export async function findSettingsInForce(db: Database): Promise<SettingsVersion | undefined> {
  return db
    .selectFrom('billing_settings')
    .select(['version', 'settings'])
    .where('counts_from', '<=', sql<Date>`billing_now()`)
    .where('stopped_at', 'is', null)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Returns whether any version uses this prefix for the numbers of one of these kinds of documents. */
export async function isKnownPrefix(
  db: Database,
  prefix: string,
  kinds: ('invoice' | 'credit_note')[] = ['invoice', 'credit_note'],
): Promise<boolean> {
  const row = await db
    .selectFrom('billing_settings')
    .select('version')
    .where(
      sql<boolean>`${prefix}::text in (select settings #>> array['numbers', kind] from unnest(${kinds}::text[]) kind)`,
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function listSettingsVersions(db: Database, limit: number): Promise<MadeVersion[]> {
  return db
    .selectFrom('billing_settings')
    .select([
      'version',
      'settings',
      // A version that SQL has added may have a `counts_from` of '-infinity'.
      sql<Date>`case when isfinite(counts_from) then counts_from else made_at end`.as('countsFrom'),
      sql<boolean>`counts_from <= billing_now()`.as('hasBegun'),
      'made_at as madeAt',
      'made_by as madeBy',
      'actor_id as actorId',
      'why',
      'stopped_at as stoppedAt',
    ])
    .orderBy('version', 'desc')
    .limit(limit)
    .execute();
}

/** Only one transaction at a time may add or stop a version. */
export const lockSettingsVersions = (trx: Database) =>
  sql`select pg_advisory_xact_lock(hashtextextended('billing_settings', 0))`.execute(trx);

/** When a new version takes effect. With `asVersion`, it takes effect at the same time as that version. */
export type Begin = 'now' | { afterHours: number } | { asVersion: number };

type NewVersion = { settings: object; begins: Begin; madeBy: string; actorId: string | null; why: string };

/** The caller has called `lockSettingsVersions`. */
export async function insertSettingsVersion(
  trx: Database,
  { settings, begins, madeBy, actorId, why }: NewVersion,
): Promise<{ version: number; countsFrom: Date }> {
  return trx
    .insertInto('billing_settings')
    .values({
      version: sql`(select coalesce(max(version), 0) + 1 from billing_settings)`,
      settings: JSON.stringify(settings),
      counts_from: toTime(begins),
      made_at: sql`billing_now()`,
      made_by: madeBy,
      actor_id: actorId,
      why,
    })
    .returning(['version', 'counts_from as countsFrom'])
    .executeTakeFirstOrThrow();
}

function toTime(begins: Begin): RawBuilder<Date> {
  if (begins === 'now') return sql`billing_now()`;
  if ('afterHours' in begins) return sql`billing_now() + make_interval(hours => ${begins.afterHours})`;
  return sql`(select counts_from from billing_settings where version = ${begins.asVersion})`;
}

/** Returns false if the version is in force already, or was stopped before. */
export async function stopSettingsVersion(trx: Database, version: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('billing_settings')
    .set({ stopped_at: sql`billing_now()` })
    .where('version', '=', version)
    .where('stopped_at', 'is', null)
    .where('counts_from', '>', sql<Date>`billing_now()`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

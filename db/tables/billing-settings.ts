// The only writer of `billing_settings`: versions of the settings of billing. A version never changes; it can be stopped before
// it counts.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/** `settings` is `BillingSettings` of server/billing/settings.ts. */
export type SettingsVersion = { version: number; settings: unknown };

/** The settings in force by the database's clock; undefined while there is no seller. */
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

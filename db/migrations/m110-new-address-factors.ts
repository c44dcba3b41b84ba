import { type Kysely, sql } from 'kysely';

/**
 * A new address may also remove the second factors, once its link is used. The column has the id of the offer that says so, because
 * version 1.0.0 replaces an offer without writing this column.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table new_addresses add column removes_factors_by uuid`.execute(db);
}

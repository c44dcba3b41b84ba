import { type Kysely, sql } from 'kysely';

// `tax_country` counts for the tax also where there is no whole address (contract 7.392): null in rows that no version since has
// written, whose address says it. `waiting` is an address, with its country and VAT id, that would change the tax and that no
// administrator has decided about, and `waits_since` since when (contract 7.394).
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table billing_details
      add column tax_country text,
      add column waiting jsonb,
      add column waits_since timestamptz,
      add constraint billing_details_waiting_whole check (num_nonnulls(waiting, waits_since) in (0, 2))`.execute(
    db,
  );
  await sql`create index billing_details_waits_since_idx on billing_details (waits_since) where waits_since is not null`.execute(
    db,
  );
}

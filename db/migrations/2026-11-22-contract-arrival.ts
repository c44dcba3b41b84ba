import { type Kysely, sql } from 'kysely';

// The place of a contract in the list that the CRM reads, given once it is committed: whoever reads the list gives the
// next numbers to those without one. A number taken before the commit could appear behind a reader that has passed it.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table service_contracts add column arrival_number bigint`.execute(db);
  // Partial, so that it is no key: other transactions may refer to a contract while it gets its number.
  await sql`
    create unique index service_contracts_arrival_number_key on service_contracts (arrival_number)
      where arrival_number is not null`.execute(db);
  await sql`
    create index service_contracts_unnumbered_idx on service_contracts (created_at, id)
      where arrival_number is null`.execute(db);
}

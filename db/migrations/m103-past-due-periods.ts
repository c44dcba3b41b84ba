import { type Kysely, sql } from 'kysely';

// The next period of each past-due contract, because such contracts are invoiced, too (contract 7.476).
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index service_contracts_past_due_next_period_idx on service_contracts (next_period_starts_at)
    where status = 'past_due'`.execute(db);
}

import { type Kysely, sql } from 'kysely';

// Trials that are over, which the billing job looks for every few seconds.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index service_contracts_trial_ends_at_idx on service_contracts (trial_ends_at)
      where status = 'trialing'`.execute(db);
}

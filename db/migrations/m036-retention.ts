import { type Kysely, sql } from 'kysely';

// The books whose years are over are found by when they were issued or recorded (contract 7.370 to 7.381).
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index if not exists invoices_issued_at_number_idx on invoices (issued_at, number)`.execute(db);
  await sql`
    create index if not exists payments_recorded_at_id_idx on payments (recorded_at, id)`.execute(db);
}

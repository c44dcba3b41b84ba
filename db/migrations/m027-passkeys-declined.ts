import { type Kysely, sql } from 'kysely';

// Who has said that they want no more offers of a passkey after their login (contract 9.213).
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column passkeys_declined_at timestamptz`.execute(db);
}

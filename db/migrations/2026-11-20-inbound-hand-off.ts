import { type Kysely, sql } from 'kysely';

// What the marketplace's hand-off needs: which members were edited here (master data wins), and hand-offs that
// wait for a password.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column name_edited_at timestamptz`.execute(db);
  await sql`alter table accounts add column name_edited_at timestamptz`.execute(db);

  await sql`
    create table pending_links (
      token_hash bytea not null
        constraint pending_links_pkey primary key
        constraint pending_links_token_hash_length check (octet_length(token_hash) = 32),
      provider text not null,
      external_id text not null,
      user_id uuid not null constraint pending_links_user_id_fkey references users on delete cascade,
      profile jsonb not null,
      return_to text,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index pending_links_user_id_idx on pending_links (user_id)`.execute(db);
  await sql`create index pending_links_expires_at_idx on pending_links (expires_at)`.execute(db);
}

import { type Kysely, sql } from 'kysely';

// What people have asked to change their address to. Their own pages show it until the link in the mail is used.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pending_email_changes (
      user_id uuid constraint pending_email_changes_pkey primary key
        constraint pending_email_changes_user_id_fkey references users on delete cascade,
      email text not null,
      requested_at timestamptz not null,
      expires_at timestamptz not null
    )`.execute(db);
  await sql`create index pending_email_changes_email_idx on pending_email_changes (email)`.execute(db);
  await sql`create index pending_email_changes_expires_at_idx on pending_email_changes (expires_at)`.execute(
    db,
  );
}

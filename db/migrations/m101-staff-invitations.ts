import { type Kysely, sql } from 'kysely';

// Invitations to the staff (contract 12.210 to 12.222). A row lasts while the invitation is open.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table staff_invitations (
      id uuid not null,
      email text not null,
      role text not null,
      invited_by uuid,
      sent_at timestamptz not null,
      expires_at timestamptz not null,
      taken_by uuid,
      constraint staff_invitations_pkey primary key (id),
      constraint staff_invitations_email_key unique (email),
      constraint staff_invitations_taken_by_key unique (taken_by),
      constraint staff_invitations_role_known check (role in ('manager', 'admin')),
      constraint staff_invitations_invited_by_fkey foreign key (invited_by) references users (id) on delete cascade,
      constraint staff_invitations_taken_by_fkey foreign key (taken_by) references users (id) on delete cascade
    )`.execute(db);
  await sql`comment on column staff_invitations.invited_by is 'Null: a command on the server.'`.execute(db);
  await sql`comment on column staff_invitations.taken_by is 'The user whom the link has made. The role is not given yet.'`.execute(
    db,
  );
  await sql`create index staff_invitations_expires_at_idx on staff_invitations (expires_at)`.execute(db);
  await sql`create index staff_invitations_invited_by_idx on staff_invitations (invited_by)`.execute(db);

  // A trigger, because the version before also changes users.
  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(db);
  await sql
    .raw(`create function end_staff_invitations() returns trigger language plpgsql security definer
      set search_path to ${rows[0]?.name}, pg_temp as $$
    begin
      delete from staff_invitations where taken_by = new.id
        or invited_by = new.id and (new.role <> 'admin' or new.suspended_at is not null or new.deletion_due_at is not null);
      return null;
    end $$`)
    .execute(db);
  await sql`revoke execute on function end_staff_invitations() from public`.execute(db);
  await sql`
    create trigger users_end_staff_invitations after update on users for each row
    when (new.email is distinct from old.email or new.holds_email is distinct from old.holds_email
      or new.password_hash is distinct from old.password_hash or new.role is distinct from old.role
      or new.suspended_at is not null and old.suspended_at is null
      or new.deletion_due_at is not null and old.deletion_due_at is null)
    execute function end_staff_invitations()`.execute(db);
}

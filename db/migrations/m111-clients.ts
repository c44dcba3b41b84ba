import { type Kysely, sql } from 'kysely';

/**
 * Clients that are not in the settings. `client_changes.version` differs after each change and each restore, so that an instance
 * need not read all rows to see that nothing has changed. It is at least the time in microseconds: a restored database never has a
 * version again that it had in the time that is lost.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table clients (
    id uuid not null,
    issuer text not null,
    name text not null,
    kind text not null default 'hand-off',
    title text not null,
    callback_url text not null,
    login_url text,
    events_url text,
    listed text[] not null,
    roles text[] not null,
    needs_factor boolean not null default false,
    off_at timestamptz,
    restores integer not null,
    tested_at timestamptz,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    constraint clients_pkey primary key (id),
    constraint clients_issuer_name_key unique (issuer, name),
    constraint clients_kind_known check (kind in ('hand-off', 'openid')),
    constraint clients_name_form check (name ~ '^[a-z][a-z0-9_]{0,62}$')
  )`.execute(db);
  await sql`comment on column clients.issuer is 'The IDENTITY_ISSUER under which the row counts.'`.execute(
    db,
  );
  await sql`comment on column clients.restores is 'How many restores the database had when the row was made or last confirmed.'`.execute(
    db,
  );
  await sql`comment on column clients.tested_at is 'When staff last tried the webhook.'`.execute(db);
  await sql`create table client_secrets (
    id uuid not null,
    client_id uuid not null,
    made_at timestamptz not null,
    sealed bytea not null,
    key_id text not null,
    last_used_at timestamptz,
    constraint client_secrets_pkey primary key (id),
    constraint client_secrets_client_id_fkey foreign key (client_id) references clients (id) on delete cascade
  )`.execute(db);
  await sql`comment on column client_secrets.key_id is 'The first 8 hex digits of SHA-256 of the key that sealed it.'`.execute(
    db,
  );
  await sql`create index client_secrets_client_id_idx on client_secrets (client_id)`.execute(db);
  await sql`create table client_changes (
    only_row boolean not null default true,
    version bigint not null,
    constraint client_changes_pkey primary key (only_row),
    constraint client_changes_one check (only_row)
  )`.execute(db);
  await sql`insert into client_changes (version) values (0)`.execute(db);

  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(db);
  await sql`create function note_client_change() returns trigger
    language plpgsql security definer set search_path to ${sql.raw(rows[0]?.name ?? 'public')}, pg_temp as $$
    begin
      update client_changes set version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint);
      return null;
    end $$`.execute(db);
  await sql`revoke execute on function note_client_change() from public`.execute(db);
  await sql`create trigger clients_note_change
    after insert or delete or update of issuer, name, kind, title, callback_url, login_url, events_url, listed, roles,
      needs_factor, off_at, restores on clients
    for each statement execute function note_client_change()`.execute(db);
  await sql`create trigger client_secrets_note_change
    after insert or delete or update of client_id, made_at, sealed, key_id on client_secrets
    for each statement execute function note_client_change()`.execute(db);
  await sql`create trigger restores_note_client_change after insert or delete on restores
    for each statement execute function note_client_change()`.execute(db);
  // At most two secrets, whatever the code does. The lock of the row of the client orders transactions at once.
  await sql`create function limit_client_secrets() returns trigger
    language plpgsql security definer set search_path to ${sql.raw(rows[0]?.name ?? 'public')}, pg_temp as $$
    begin
      perform 1 from clients where id = new.client_id for update;
      if (select count(*) from client_secrets where client_id = new.client_id) > 2 then
        raise exception 'a client has at most two secrets' using errcode = 'check_violation';
      end if;
      return null;
    end $$`.execute(db);
  await sql`revoke execute on function limit_client_secrets() from public`.execute(db);
  await sql`create trigger client_secrets_limit after insert on client_secrets
    for each row execute function limit_client_secrets()`.execute(db);
}

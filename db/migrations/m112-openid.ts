import { type Kysely, sql } from 'kysely';

/**
 * OpenID Connect beside the hand-off. A grant is one code and the access token that it gave. Triggers end the grants of a client that
 * is turned off, and plan the log-outs to tell clients about. So earlier versions on the same database do both, too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table clients
    add column redirect_uris text[],
    add column post_logout_uris text[],
    add column back_channel_uri text,
    add column pkce text,
    add column auth text,
    add column challenge_at timestamptz,
    add constraint clients_openid_whole check (
      case kind when 'openid'
        then cardinality(redirect_uris) > 0 and post_logout_uris is not null and events_url is null
          and pkce in ('required', 'optional', 'state-only') and auth in ('secret', 'none')
          and (auth = 'secret' or pkce = 'required')
        else num_nonnulls(redirect_uris, post_logout_uris, back_channel_uri, pkce, auth, challenge_at) = 0 end)`.execute(
    db,
  );
  await sql`comment on column clients.challenge_at is 'When a client with pkce state-only first sent a challenge.'`.execute(
    db,
  );
  await sql`create index clients_openid_name_idx on clients (name) where kind = 'openid'`.execute(db);
  await sql`create trigger clients_note_openid_change
    after update of redirect_uris, post_logout_uris, back_channel_uri, pkce, auth, challenge_at on clients
    for each statement execute function note_client_change()`.execute(db);

  await sql`create table oidc_keys (
    kid text not null,
    issuer text not null,
    sealed bytea not null,
    key_id text not null,
    used_from timestamptz not null,
    constraint oidc_keys_pkey primary key (kid)
  )`.execute(db);
  await sql`comment on column oidc_keys.sealed is 'The private key, as PKCS #8.'`.execute(db);
  await sql`comment on column oidc_keys.key_id is 'The first 8 hex digits of SHA-256 of the key that sealed it.'`.execute(
    db,
  );
  await sql`create index oidc_keys_issuer_idx on oidc_keys (issuer)`.execute(db);
  await sql`create trigger oidc_keys_note_change after insert or delete or update on oidc_keys
    for each statement execute function note_client_change()`.execute(db);

  await sql`create table oidc_grants (
    id uuid not null,
    client_id uuid not null,
    session_id uuid not null,
    code_hash bytea not null,
    token_hash bytea,
    redirect_uri text not null,
    scope text[] not null,
    nonce text,
    challenge text,
    created_at timestamptz not null,
    exchanged_at timestamptz,
    constraint oidc_grants_pkey primary key (id),
    constraint oidc_grants_code_hash_key unique (code_hash),
    constraint oidc_grants_token_hash_key unique (token_hash),
    constraint oidc_grants_exchanged check ((token_hash is null) = (exchanged_at is null)),
    constraint oidc_grants_client_id_fkey foreign key (client_id) references clients (id) on delete cascade,
    constraint oidc_grants_session_id_fkey foreign key (session_id) references sessions (id) on delete cascade
  )`.execute(db);
  await sql`comment on table oidc_grants is 'Codes and access tokens are kept as SHA-256.'`.execute(db);
  await sql`create index oidc_grants_session_id_client_id_exchanged_at_idx
    on oidc_grants (session_id, client_id, exchanged_at)`.execute(db);
  await sql`create index oidc_grants_client_id_idx on oidc_grants (client_id)`.execute(db);
  await sql`create index oidc_grants_created_at_idx on oidc_grants (created_at)`.execute(db);

  await sql`create table log_outs (
    id uuid not null default gen_random_uuid(),
    client_id uuid not null,
    user_id uuid not null,
    sid text,
    made_at timestamptz not null default clock_timestamp(),
    attempts integer not null default 0,
    next_try_at timestamptz default clock_timestamp(),
    ended_at timestamptz,
    failure text,
    constraint log_outs_pkey primary key (id),
    constraint log_outs_ended check ((next_try_at is null) = (ended_at is not null)),
    constraint log_outs_client_id_fkey foreign key (client_id) references clients (id) on delete cascade
  )`.execute(db);
  await sql`comment on table log_outs is
    'Log-outs to tell clients about. user_id has no foreign key, because clients are told about an erasure, too.'`.execute(
    db,
  );
  await sql`comment on column log_outs.sid is 'The session at the client. Null if all sessions of the person end.'`.execute(
    db,
  );
  await sql`comment on column log_outs.ended_at is 'When the client took the log-out, or when it was given up: then it has a failure.'`.execute(
    db,
  );
  await sql`comment on column log_outs.failure is 'Why the last try failed. Null once the log-out is taken.'`.execute(
    db,
  );
  await sql`create index log_outs_client_id_next_try_at_idx on log_outs (client_id, next_try_at)
    where next_try_at is not null`.execute(db);
  await sql`create index log_outs_client_id_ended_at_idx on log_outs (client_id, ended_at)
    where ended_at is not null`.execute(db);
  await sql`create index log_outs_made_at_idx on log_outs (made_at)`.execute(db);

  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(db);
  const schema = sql.raw(rows[0]?.name ?? 'public');
  await sql`create function end_grants_of_client() returns trigger
    language plpgsql security definer set search_path to ${schema}, pg_temp as $$
    begin
      delete from oidc_grants where client_id = new.id;
      return null;
    end $$`.execute(db);
  // It also runs as the client is turned on, because an instance that did not know yet may have made a grant while it was off.
  await sql`create trigger clients_end_grants after update of off_at on clients
    for each row when ((old.off_at is null) <> (new.off_at is null)) execute function end_grants_of_client()`.execute(
    db,
  );
  // The role of a payload: staff are administrators, and people with a granted capability are merchants.
  await sql`create function role_of_event(body jsonb) returns text language sql immutable as $$
      select case when body ->> 'role' in ('admin', 'manager') then 'admin'
        when jsonb_array_length(body -> 'capabilities') > 0 then 'merchant' else 'customer' end
    $$`.execute(db);
  // Only the change that takes the right to enter plans a log-out. Further changes of the same person plan none.
  await sql`create function plan_log_outs() returns trigger
    language plpgsql security definer set search_path to ${schema}, pg_temp set enable_seqscan to off as $$
    declare
      before jsonb;
    begin
      if not exists (select from clients where kind = 'openid' and name = new.client) then
        return null;
      end if;
      if new.type = 'profile.updated' then
        if tg_op = 'UPDATE' then
          before := old.body;
        else
          select body into before from events
            where user_id = new.user_id and client = new.client and type = new.type and id < new.id
            order by user_id desc, id desc limit 1;
        end if;
      end if;
      insert into log_outs (client_id, user_id, sid)
        select c.id, new.user_id, new.body ->> 'sid' from clients c
        where c.kind = 'openid' and c.name = new.client and c.back_channel_uri is not null
          and (new.type = 'session.ended' or exists (
            select from launches l
              where l.user_id = new.user_id and l.client = new.client and l.at > now() - interval '30 days'))
          and (new.type <> 'profile.updated' or role_of_event(new.body) <> all (c.roles)
            and (before is null or role_of_event(before) = any (c.roles)));
      return null;
    end $$`.execute(db);
  await sql`create trigger events_plan_log_outs after insert or update of body on events
    for each row when (new.type in ('session.ended', 'user.suspended', 'user.deleted', 'profile.updated'))
    execute function plan_log_outs()`.execute(db);
  for (const name of ['end_grants_of_client()', 'plan_log_outs()', 'role_of_event(jsonb)'])
    await sql`revoke execute on function ${sql.raw(name)} from public`.execute(db);
}

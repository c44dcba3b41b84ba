import { type Kysely, sql } from 'kysely';

// Taking an account back (contract section 2): what each mailbox was told of, by mails whose link leads to /take-back. The
// link works as long as its row here is there and has time left.
export async function up(db: Kysely<unknown>): Promise<void> {
  // A row outlives its link by a week: the window of another link may begin with it.
  await sql`
    create table take_back_changes (
      id uuid not null constraint take_back_changes_pkey primary key,
      user_id uuid not null constraint take_back_changes_user_id_fkey references users on delete cascade,
      email text not null,
      what text not null constraint take_back_changes_what_known check (what in (
        'passkey_added', 'authenticator_added', 'recovery_codes_made', 'email_changed', 'deletion_requested'
      )),
      at timestamptz not null,
      expires_at timestamptz not null,
      device text
    )`.execute(db);
  await sql`create index take_back_changes_user_id_idx on take_back_changes (user_id, id)`.execute(db);
  await sql`create index take_back_changes_expires_at_idx on take_back_changes (expires_at)`.execute(db);

  await sql`
    alter table mail_tokens
      add column change_id uuid
        constraint mail_tokens_change_id_fkey references take_back_changes on delete cascade,
      add column guesses smallint not null default 0`.execute(db);
  await sql`
    create index mail_tokens_change_id_idx on mail_tokens (change_id) where change_id is not null`.execute(
    db,
  );

  // Null: from before this column.
  await sql`alter table recovery_codes add column made_at timestamptz`.execute(db);
  await sql`alter table recovery_codes alter column made_at set default now()`.execute(db);

  // A freeze is a suspension with a reason of its own: nobody ends the suspension alone, nor the version before.
  await sql`alter table users add column frozen_at timestamptz`.execute(db);
  await sql`
    create function refuse_to_end_suspension() returns trigger language plpgsql as $$
    begin
      raise check_violation using
        message = 'the account is frozen: user:thaw ends that', constraint = 'users_frozen_is_suspended';
    end $$`.execute(db);
  await sql`
    create trigger users_frozen_is_suspended before insert or update of suspended_at, frozen_at on users
      for each row when (new.frozen_at is not null and new.suspended_at is null)
      execute function refuse_to_end_suspension()`.execute(db);

  // The version before changes addresses, too, and sends mails about it.
  await sql`
    insert into take_back_changes (id, user_id, email, what, at, expires_at)
      select gen_random_uuid(), user_id, email, 'email_changed', expires_at - interval '7 days', expires_at
        from reserved_addresses`.execute(db);
  await sql`
    create function tell_of_reserved_address() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from take_back_changes
          where user_id = new.user_id and email = new.email and what = 'email_changed' and expires_at = new.expires_at
      ) then
        insert into take_back_changes (id, user_id, email, what, at, expires_at) values
          (gen_random_uuid(), new.user_id, new.email, 'email_changed', new.expires_at - interval '7 days', new.expires_at);
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger reserved_addresses_are_told after insert on reserved_addresses
      for each row execute function tell_of_reserved_address()`.execute(db);
  await sql`
    create function find_change_of_token() returns trigger language plpgsql as $$
    begin
      select id, expires_at into new.change_id, new.expires_at from take_back_changes
        where user_id = new.user_id and email = new.email and what = 'email_changed'
        order by at desc limit 1;
      -- No row: its link would have been over before it was sent.
      return case when new.change_id is null then null else new end;
    end $$`.execute(db);
  await sql`
    create trigger mail_tokens_find_change before insert on mail_tokens for each row
      when (new.purpose = 'undo_email_change' and new.change_id is null)
      execute function find_change_of_token()`.execute(db);
  await sql`
    update mail_tokens t set change_id = c.id from take_back_changes c
      where t.purpose = 'undo_email_change' and c.user_id = t.user_id and c.email = t.email`.execute(db);

  // For a suspended user time stands still: what is left of it is kept as a time after the year 3000, which no clock
  // reaches.
  await sql`
    create function shift_times_of_user(of_user uuid, seconds float8, since timestamptz) returns void language plpgsql as $$
    declare
      shift interval := make_interval(secs => seconds);
    begin
      -- Those that are over, too: how far they lie from the others is what the window goes by.
      update take_back_changes set expires_at = expires_at + shift
        where user_id = of_user and (seconds > 0 or expires_at > timestamptz '2900-01-01 00:00:00Z');
      update mail_tokens set expires_at = expires_at + shift
        where user_id = of_user and purpose = 'undo_email_change' and expires_at > since;
      update reserved_addresses set expires_at = expires_at + shift where user_id = of_user and expires_at > since;
    end $$`.execute(db);
  await sql`
    create function users_let_time_stand_still() returns trigger language plpgsql as $$
    declare
      far timestamptz := timestamptz '3000-01-01 00:00:00Z';
      seconds float8 := extract(epoch from far - now());
    begin
      if new.suspended_at is null then perform shift_times_of_user(new.id, -seconds, far);
      else perform shift_times_of_user(new.id, seconds, now());
      end if;
      return null;
    end $$`.execute(db);
  await sql`
    create trigger users_let_time_stand_still after update of suspended_at on users
      for each row when ((old.suspended_at is null) <> (new.suspended_at is null))
      execute function users_let_time_stand_still()`.execute(db);
  await sql`
    select shift_times_of_user(id, extract(epoch from timestamptz '3000-01-01 00:00:00Z' - now()), now())
      from users where suspended_at is not null`.execute(db);
}

import { type Kysely, sql } from 'kysely';

// Taking an account back (contract section 2): guesses are counted by what a mailbox was told of, however often its mail was
// sent; and however many changes there are, those in question are found by an index.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index take_back_changes_user_id_at_idx on take_back_changes (user_id, at)`.execute(db);

  await sql`alter table take_back_changes add column guesses smallint not null default 0`.execute(db);
  await sql`
    update take_back_changes c set guesses = t.guesses
      from (select change_id, sum(guesses) as guesses from mail_tokens group by change_id) t
      where t.change_id = c.id and t.guesses > 0`.execute(db);

  // As m020-take-back has it: what is left of the time of a suspended user is kept as a time after the year 3000. Also of
  // what they are told of meanwhile.
  await sql`
    create function take_back_changes_let_time_stand_still() returns trigger language plpgsql as $$
    begin
      if exists (select from users where id = new.user_id and suspended_at is not null) then
        new.expires_at := new.expires_at
          + make_interval(secs => extract(epoch from timestamptz '3000-01-01 00:00:00Z' - now())::float8);
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger take_back_changes_let_time_stand_still before insert on take_back_changes for each row
      when (new.expires_at < timestamptz '2900-01-01 00:00:00Z')
      execute function take_back_changes_let_time_stand_still()`.execute(db);
  await sql`
    update take_back_changes c set expires_at = timestamptz '3000-01-01 00:00:00Z' + (c.expires_at - c.at)
      from users u where u.id = c.user_id and u.suspended_at is not null
        and c.expires_at < timestamptz '2900-01-01 00:00:00Z'`.execute(db);
  await sql`
    update mail_tokens t set expires_at = c.expires_at from take_back_changes c
      where c.id = t.change_id and c.expires_at > timestamptz '3000-01-01 00:00:00Z'
        and t.expires_at < timestamptz '2900-01-01 00:00:00Z'`.execute(db);

  // Of 168 hours, as the service counts: seven days of a session's own time zone may have an hour more or less.
  await sql`
    create or replace function tell_of_reserved_address() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from take_back_changes
          where user_id = new.user_id and email = new.email and what = 'email_changed' and expires_at = new.expires_at
      ) then
        insert into take_back_changes (id, user_id, email, what, at, expires_at) values
          (gen_random_uuid(), new.user_id, new.email, 'email_changed', new.expires_at - interval '168 hours',
            new.expires_at);
      end if;
      return null;
    end $$`.execute(db);
}

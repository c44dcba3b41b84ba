import { type Kysely, type RawBuilder, sql } from 'kysely';

// By which words staff find somebody, and whose words have to be written anew (contract 12.50 to 12.61). The words are made
// by a job: a request only notes who is to be looked at.
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const schema = sql.id(rows[0]?.name ?? 'public');
  await sql`
    create table person_words (
      user_id uuid constraint person_words_pkey primary key,
      words tsvector not null,
      flags text not null
    )`.execute(db);
  // Without a list of pending entries, which a search would have to read as a whole.
  await sql`create index person_words_words_idx on person_words using gin (words) with (fastupdate = off)`.execute(
    db,
  );
  await sql`create index person_words_flags_user_id_idx on person_words (flags, user_id)`.execute(db);

  // A row of each transaction that changed somebody: transactions never wait for each other here, and what one changes is
  // noted although the job is just taking an earlier row about the same person.
  await sql`
    create table people_to_index (
      user_id uuid,
      made_in xid8 default pg_current_xact_id(),
      constraint people_to_index_pkey primary key (user_id, made_in)
    )`.execute(db);

  // Everybody, before anything is locked: a key to users would lock them.
  await sql`insert into people_to_index (user_id) select id from users`.execute(db);

  await sql`create index if not exists users_typed_email_idx on users (email) where not holds_email`.execute(
    db,
  );
  await sql`
    alter table person_words add constraint person_words_user_id_fkey
      foreign key (user_id) references users on delete cascade`.execute(db);
  await queueChangedPeople(db, schema);

  // From here on nobody else writes to users until the end. Whoever has come in between has committed, and is seen.
  await sql`
    insert into people_to_index (user_id)
      select id from users u where not exists (select from people_to_index q where q.user_id = u.id)`.execute(
    db,
  );
  await sql`
    comment on table people_to_index is 'Whose words are to be written anew. No key to users: an insert would lock them.'`.execute(
    db,
  );
  await sql`
    comment on column person_words.flags is 'Role and states, parted by spaces. They are in the words, too, each behind a "=".'`.execute(
    db,
  );
}

/** Whoever changes them: the version before and SQL, too. */
async function queueChangedPeople(db: Kysely<unknown>, schema: RawBuilder<unknown>): Promise<void> {
  // As in 2026-11-25-history.ts: a role that may write to users need not know of the queue.
  const trigger = sql`returns trigger language plpgsql
    security definer set search_path = ${schema}, pg_temp set enable_seqscan = off as`;
  await sql`
    create function queue_person() ${trigger} $$
    begin
      insert into people_to_index (user_id) values (new.id) on conflict do nothing;
      return null;
    end $$`.execute(db);
  await sql`
    create function queue_people_of_account() ${trigger} $$
    begin
      insert into people_to_index (user_id) select id from users where account_id = new.id on conflict do nothing;
      return null;
    end $$`.execute(db);
  for (const name of ['queue_person', 'queue_people_of_account'])
    await sql`revoke execute on function ${sql.id(name)}() from public`.execute(db);

  await sql`
    create trigger users_queue_person_of_new after insert on users
      for each row execute function queue_person()`.execute(db);
  await sql`
    create trigger users_queue_person after update on users for each row when (
      old.account_id is distinct from new.account_id or old.email is distinct from new.email
      or old.holds_email is distinct from new.holds_email or old.name is distinct from new.name
      or old.role is distinct from new.role or old.email_verified_at is distinct from new.email_verified_at
      or old.suspended_at is distinct from new.suspended_at or old.frozen_at is distinct from new.frozen_at
      or old.deletion_due_at is distinct from new.deletion_due_at
    ) execute function queue_person()`.execute(db);
  await sql`
    create trigger accounts_queue_people after update on accounts for each row when (
      old.name is distinct from new.name or old.capabilities is distinct from new.capabilities
      or old.verified_at is distinct from new.verified_at
    ) execute function queue_people_of_account()`.execute(db);
}

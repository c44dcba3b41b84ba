import { type Kysely, sql } from 'kysely';

/** The time zone that a person has chosen. The history records it, and no client gets it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column time_zone text
    constraint users_time_zone_length check (char_length(time_zone) between 1 and 64)`.execute(db);
  const recorded = [
    ...['account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role'],
    ...['suspended_at', 'deletion_due_at', 'time_zone'],
  ];
  const record = sql.raw(
    `execute function record_change('user', ${recorded.map((name) => `'${name}'`).join(', ')})`,
  );
  const isChanged = sql.raw(recorded.map((name) => `old.${name} is distinct from new.${name}`).join(' or '));
  await sql`create or replace trigger users_record_change after insert or delete on users
    for each row ${record}`.execute(db);
  await sql`create or replace trigger users_record_update after update on users
    for each row when (${isChanged}) ${record}`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/** Notes of staff on people. A note goes with its person, and stays if its author goes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table staff_notes (
    id uuid not null,
    user_id uuid not null,
    author_id uuid,
    text text not null,
    at timestamptz not null,
    constraint staff_notes_pkey primary key (id),
    constraint staff_notes_user_id_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint staff_notes_author_id_fkey foreign key (author_id) references users (id) on delete set null,
    constraint staff_notes_text_check check (char_length(text) between 1 and 500)
  )`.execute(db);
  await sql`create index staff_notes_user_id_at_id_idx on staff_notes (user_id, at, id)`.execute(db);
  await sql`create index staff_notes_author_id_idx on staff_notes (author_id) where author_id is not null`.execute(
    db,
  );
}

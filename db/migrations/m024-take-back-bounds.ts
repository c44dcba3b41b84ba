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
}

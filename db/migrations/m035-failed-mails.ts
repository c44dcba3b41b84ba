import { type Kysely, sql } from 'kysely';

// Mails that failed or were given up, for staff who look at them (contract 12.120): the table keeps mails of 30 days, and few
// of them are these. No statement that takes mails to send fits this index.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index if not exists mails_failed_idx on mails (created_at, id)
      where sent_at is null and (last_error is not null or given_up_at is not null)`.execute(db);
}

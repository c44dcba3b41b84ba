import { type Kysely, sql } from 'kysely';

// Mails that people wait for are claimed apart from all others (contract section 9): links that were asked for, and mails
// with a take-back link, whichever version wrote them. With `id`, each lane has an order that only its own index has: where
// two could serve, and all that Postgres knows is an empty table, it may take the one with everybody's mails.
export async function up(db: Kysely<unknown>): Promise<void> {
  const isAwaited = sql`(
    kind in ('set_password', 'prove_address', 'verify_email', 'sign_up', 'account_exists', 'change_email')
    or details ? 'until')`;
  await sql`
    create index mails_awaited_idx on mails (next_attempt_at, id)
      where sent_at is null and given_up_at is null and ${isAwaited}`.execute(db);
  await sql`
    create index mails_other_idx on mails (next_attempt_at, id)
      where sent_at is null and given_up_at is null and not ${isAwaited}`.execute(db);
}

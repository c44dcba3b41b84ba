import { type Kysely, sql } from 'kysely';

// Of the mails that people wait for, those to holders are claimed apart from those that anybody can cause by typing an address. Both
// would fit `mails_awaited_idx`, which the version before needs. So their order is by `created_at`, which only their own indexes
// have: where two could serve, and all that Postgres knows is an empty table, it may take the one that is slower in a flood.
export async function up(db: Kysely<unknown>): Promise<void> {
  const isCaused = sql`kind in ('sign_up', 'account_exists', 'invoice_email')`;
  const isAwaited = sql`(
    kind in ('set_password', 'prove_address', 'verify_email', 'sign_up', 'account_exists', 'change_email')
    or details ? 'until')`;
  await sql`
    create index if not exists mails_holders_idx on mails (next_attempt_at, created_at)
      where sent_at is null and given_up_at is null and ${isAwaited} and not ${isCaused}`.execute(db);
  await sql`
    create index if not exists mails_sign_ups_idx on mails (next_attempt_at, created_at)
      where sent_at is null and given_up_at is null and ${isCaused}`.execute(db);
}

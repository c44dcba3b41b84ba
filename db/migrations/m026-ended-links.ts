import { type Kysely, sql } from 'kysely';

// What became of a link in a mail (contract 9.202 and 9.203): the row stays when the link ends, so that its page can say why.
//
// The version before knows nothing of the column. It refuses an ended row all the same, because the row's time is over
// (`expires_at`) and a take-back link has lost its change; and it may delete the row.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table mail_tokens add column ended text,
      add constraint mail_tokens_ended_known check (ended in (
        'used', 'newer_link', 'password_set', 'passkey_added', 'address_changed', 'taken_back', 'canceled', 'withdrawn'))`.execute(
    db,
  );
  await sql`
    comment on column mail_tokens.ended is
      'What ended the link. Null: nothing has, but time (expires_at). An ended row has its expires_at ten minutes before its end, and no change_id, so that the version before refuses it, too.'`.execute(
    db,
  );
}

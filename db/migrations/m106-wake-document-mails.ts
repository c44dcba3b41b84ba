import { type Kysely, sql } from 'kysely';

/**
 * The mails about the first documents wait until their address is proved. Then they leave at once, whichever version proves it. A
 * mail that a worker may have keeps its lease of two minutes, but not to the millisecond: so the worker sees that it must not postpone
 * the mail. A mail on hold stays there.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select quote_ident(current_schema()) as name`.execute(db);
  await sql`create function wake_document_mails() returns trigger
    language plpgsql security definer set search_path to ${sql.raw(rows[0]?.name ?? 'public')}, pg_temp as $$
    begin
      update mails set
          created_at = least(created_at, now()),
          next_attempt_at = case when attempts = 0 then least(next_attempt_at, now())
            when next_attempt_at >= '9999-01-01 00:00:00Z' then next_attempt_at
            when next_attempt_at > billing_now() + interval '3 minutes' then billing_now()
            else next_attempt_at - interval '1 millisecond' end
        where user_id in (select id from users where account_id = new.account_id)
          and sent_at is null and given_up_at is null and kind in ('invoice_issued', 'credit_note_issued');
      return null;
    end $$`.execute(db);
  await sql`revoke execute on function wake_document_mails() from public`.execute(db);
  await sql`create trigger users_wake_document_mails after update of email_verified_at on users for each row
    when (old.email_verified_at is null and new.email_verified_at is not null)
    execute function wake_document_mails()`.execute(db);
  await sql`create trigger billing_details_wake_document_mails
    after insert or update of invoice_email_proved_at on billing_details for each row
    when (new.invoice_email_proved_at is not null) execute function wake_document_mails()`.execute(db);
}

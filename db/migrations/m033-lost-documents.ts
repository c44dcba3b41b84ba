import { type Kysely, sql } from 'kysely';

// After a restore billing waits until an operator resumes it, and numbers that somebody got in the lost time are explained
// (contract 7.340 to 7.362). Triggers see to it, so that it holds for the version before, too.
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db);
  const path = sql`set search_path = ${sql.id(rows[0]?.name ?? 'public')}, pg_temp`;
  // Restores from before this version count as resumed. Any later one does not, whichever version writes it.
  await sql`alter table restores add column billing_resumed_at timestamptz default now()`.execute(db);
  await sql`alter table restores alter column billing_resumed_at drop default`.execute(db);
  await sql`
    create table lost_documents (
      number text constraint lost_documents_pkey primary key,
      restored_at timestamptz not null constraint lost_documents_restored_at_fkey references restores,
      recovered_at timestamptz
    )`.execute(db);

  await sql`
    create function refuse_issue_while_paused() returns trigger language plpgsql security definer ${path} as $$
    begin
      if current_setting('identity.recovery', true) is distinct from 'on'
        and exists (select from restores where billing_resumed_at is null) then
        raise exception 'billing waits since the database was restored' using errcode = 'check_violation';
      end if;
      return new;
    end $$`.execute(db);
  for (const table of ['invoices', 'documents'])
    await sql`
      create trigger ${sql.id(`${table}_refuse_issue_while_paused`)} before insert on ${sql.id(table)} for each row
        execute function refuse_issue_while_paused()`.execute(db);

  // Payments of the lost time may be missing.
  await sql`
    create or replace function refuse_early_past_due() returns trigger language plpgsql security definer ${path} as $$
    begin
      if (select bool_and(coalesce(past_due_at, due_at) > billing_now() + interval '5 minutes') from invoices
          where contract_id = new.id and status = 'open' and due_at <= billing_now()) then
        raise exception 'nothing of this contract is past its days' using errcode = 'check_violation';
      end if;
      if exists (select from restores where billing_resumed_at is null) then
        raise exception 'billing waits since the database was restored' using errcode = 'check_violation';
      end if;
      return new;
    end $$`.execute(db);

  const kinds = sql`('invoice_issued', 'invoice_reminder_1', 'invoice_reminder_2', 'payment_received',
    'credit_note_issued', 'trial_ends', 'contract_cancel_asked', 'contract_kept')`;
  await sql`
    create function hold_billing_mail() returns trigger language plpgsql security definer ${path} as $$
    begin
      if exists (select from restores where billing_resumed_at is null) then
        new.next_attempt_at := '9999-01-01 00:00:00Z';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger mails_hold_billing before insert or update of next_attempt_at on mails for each row
      when (new.sent_at is null and new.kind in ${kinds}) execute function hold_billing_mail()`.execute(db);
  await sql`
    create function hold_billing_mails() returns trigger language plpgsql security definer ${path} as $$
    begin
      update mails set next_attempt_at = '9999-01-01 00:00:00Z' where sent_at is null and kind in ${kinds};
      return null;
    end $$`.execute(db);
  await sql`
    create trigger restores_hold_billing_mails after insert on restores for each row
      when (new.billing_resumed_at is null) execute function hold_billing_mails()`.execute(db);
  for (const name of ['refuse_issue_while_paused', 'hold_billing_mail', 'hold_billing_mails'])
    await sql`revoke execute on function ${sql.id(name)}() from public`.execute(db);
}

import { type Kysely, sql } from 'kysely';

// People leave: a date on which a user is erased, the ids that are left of them, and what has to outlive them (contracts
// and invoices) without them.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column deletion_due_at timestamptz`.execute(db);
  await sql`
    create index users_deletion_due_at_idx on users (deletion_due_at) where deletion_due_at is not null`.execute(
    db,
  );

  await sql`
    create table erased_users (
      id uuid not null constraint erased_users_pkey primary key,
      erased_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create function refuse_erased_id() returns trigger language plpgsql as $$
    begin
      if exists (select from erased_users where id = new.id) then
        raise unique_violation using message = 'This id was of a user who has been erased.',
          constraint = 'users_id_never_reused';
      end if;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger users_refuse_erased_id before insert on users
      for each row execute function refuse_erased_id()`.execute(db);

  // A contract whose user is erased keeps only the ids, because its signup is answered with them.
  await sql`
    alter table service_contracts
      alter column user_id drop not null,
      alter column account_id drop not null,
      add column erased_user_id uuid constraint service_contracts_erased_user_id_fkey references erased_users,
      add column erased_account_id uuid`.execute(db);
  await sql`create index service_contracts_user_id_idx on service_contracts (user_id)`.execute(db);

  // Whom an invoice is for, as they were called when it was issued. A trigger, so that an instance of the version before
  // writes it, too.
  await sql`alter table invoices add column buyer_name text, add column buyer_email text`.execute(db);
  await sql`
    update invoices i set buyer_name = a.name, buyer_email = u.email
      from service_contracts c join accounts a on a.id = c.account_id join users u on u.id = c.user_id
      where c.id = i.contract_id`.execute(db);
  await sql`
    create function freeze_buyer() returns trigger language plpgsql as $$
    begin
      select a.name, u.email into new.buyer_name, new.buyer_email
        from service_contracts c left join accounts a on a.id = c.account_id left join users u on u.id = c.user_id
        where c.id = new.contract_id;
      return new;
    end $$`.execute(db);
  await sql`
    create trigger invoices_freeze_buyer before insert on invoices
      for each row execute function freeze_buyer()`.execute(db);

  // The mail that says that somebody was erased goes out when its user is gone.
  await sql`alter table mails alter column user_id drop not null`.execute(db);

  // What tells of a marketplace id is erased with its user, also where it was refused and so tells of no user.
  await sql`
    create index audit_events_external_id_idx on audit_events ((details ->> 'id')) where details ? 'id'`.execute(
    db,
  );
}

import { type Kysely, sql } from 'kysely';

/**
 * When an invoice was issued or settled last, as a place in the list that payment providers read. A trigger keeps it, because the
 * version before settles invoices, too. A reader gives the place, always the last one. Until then, the invoice keeps its old one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table invoice_changes (
    invoice bigint not null,
    change bigint,
    is_numbered boolean not null default false,
    constraint invoice_changes_pkey primary key (invoice),
    constraint invoice_changes_invoice_fkey foreign key (invoice) references invoices (number) on delete cascade
  )`.execute(db);
  await sql`create unique index invoice_changes_change_key on invoice_changes (change) where change is not null`.execute(
    db,
  );
  await sql`create index invoice_changes_unnumbered_idx on invoice_changes (invoice) where not is_numbered`.execute(
    db,
  );
  await sql`create function note_invoice_change() returns trigger language plpgsql as $$
    begin
      insert into invoice_changes (invoice) values (new.number) on conflict (invoice) do update set is_numbered = false;
      return null;
    end $$`.execute(db);
  await sql`create trigger invoices_note_change after insert or update of status, credited, allocated on invoices
    for each row execute function note_invoice_change()`.execute(db);
  await sql`insert into invoice_changes (invoice, change, is_numbered)
    select number, row_number() over (order by number), true from invoices`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/** What was decided about a VAT id that was not checked before an invoice, and what the EU's register answered about it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table billing_details
    add column refused_vat_id text,
    add column vat_id_waits_since timestamptz,
    add column vat_id_ask_at timestamptz`.execute(db);
  await sql`create index billing_details_undecided_vat_id_idx on billing_details ((coalesce(country, tax_country)))
    where vat_id is not null and checked_vat_id is distinct from vat_id
      and refused_vat_id is distinct from vat_id`.execute(db);
  await sql`create table vat_checks (
    id uuid not null,
    account_id uuid not null,
    vat_id text not null,
    asked_by text not null,
    asked_at timestamptz not null,
    is_valid boolean not null,
    consultation text,
    name text,
    address text,
    constraint vat_checks_pkey primary key (id)
  )`.execute(db);
  await sql`create index vat_checks_account_id_vat_id_asked_at_idx on vat_checks (account_id, vat_id, asked_at)`.execute(
    db,
  );
}

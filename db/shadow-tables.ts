// A dry run of the import works on temporary tables. They have the names of the real tables, so a dry run uses the same
// statements as a real import (docs/inside/decisions/import-dry-run.md).
import { sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

/** The tables that an import reads and writes. `rate_limits` has the limits of notices. */
const tables = [
  ...['accounts', 'users', 'external_links', 'reserved_addresses', 'audit_events', 'mails'],
  ...['billing_details', 'rate_limits'],
];

/** The people whose accounts are copied, by their ids at the provider, and by addresses that they hold or can have back. */
type Concerned = { provider: string; externalIds: string[]; emails: string[] };

/**
 * Hides the real tables behind empty temporary ones until the transaction ends. The transaction is read-only, so Postgres
 * refuses to write to the real tables or to lock them. Returns a function that copies the accounts concerned, each only one
 * time.
 */
export async function shadowTables(trx: Transaction<DB>): Promise<(concerned: Concerned) => Promise<void>> {
  const found = await sql<{ schema: string }>`
    select nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = 'users'::regclass`.execute(trx);
  const schema = found.rows[0]?.schema ?? 'public';
  // The transaction is idle while the operator takes time to read the report.
  await sql`set local idle_in_transaction_session_timeout = '5min'`.execute(trx);
  for (const table of tables) {
    await sql`create temporary table ${sql.id(table)}
      (like ${sql.id(schema, table)} including defaults including constraints including indexes)
      on commit drop`.execute(trx);
  }
  await sql`create temporary table copied_accounts (id uuid primary key) on commit drop`.execute(trx);
  // Statements that are already prepared on the connection look up their tables again after this.
  await sql`select set_config('search_path', 'pg_temp, ' || current_setting('search_path'), true)`.execute(
    trx,
  );
  await sql`set transaction read only`.execute(trx);
  return (concerned) => copyAccounts(trx, schema, concerned);
}

async function copyAccounts(
  trx: Transaction<DB>,
  schema: string,
  { provider, externalIds, emails }: Concerned,
): Promise<void> {
  const stored = (table: string) => sql.id(schema, table);
  await sql`
    with concerned as (
      select account_id from ${stored('users')} where email = any(${emails}::text[]) and holds_email
      union
      select account_id from ${stored('users')} where id in (
        select user_id from ${stored('external_links')}
          where provider = ${provider} and external_id = any(${externalIds}::text[])
        union all
        select user_id from ${stored('reserved_addresses')} where email = any(${emails}::text[]))
    ), fresh as (
      insert into copied_accounts select account_id from concerned on conflict do nothing returning id
    ), people as (
      insert into users select u.* from ${stored('users')} u join fresh on fresh.id = u.account_id returning id
    ), their_accounts as (
      insert into accounts select a.* from ${stored('accounts')} a join fresh on fresh.id = a.id
    ), their_links as (
      insert into external_links
        select l.* from ${stored('external_links')} l join people on people.id = l.user_id
    )
    insert into reserved_addresses
      select r.* from ${stored('reserved_addresses')} r join people on people.id = r.user_id`.execute(trx);
  // On the real tables, triggers make this change. The temporary tables have no triggers.
  await sql`select know_sources(id) from accounts where not sources_known`.execute(trx);
}

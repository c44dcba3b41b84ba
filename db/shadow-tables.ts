// What a dry run of the import works on: temporary tables of the same names, so that the very statements of the import
// run on them (docs/decisions/import-dry-run.md). They hold the accounts that its lines are about, as they are and then
// as the lines before would leave them.
import { sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

/** What an import reads and writes. */
const tables = [
  ...['accounts', 'users', 'external_links', 'reserved_addresses', 'audit_events', 'mails'],
  // The limits of notices.
  'rate_limits',
];

/** The people with one of these ids at the other system, and those who hold one of these addresses, or can have it back. */
type Concerned = { provider: string; externalIds: string[]; emails: string[] };

/**
 * Puts empty tables before the real ones until the transaction ends, and makes the transaction read-only: from then on Postgres
 * itself refuses to write to, or lock rows of, a table that is not temporary. The result is a function that copies the people
 * whom lines concern into the empty tables, each account once, with all that belongs to it. It locks nothing.
 */
export async function shadowTables(trx: Transaction<DB>): Promise<(concerned: Concerned) => Promise<void>> {
  const found = await sql<{ schema: string }>`
    select nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.oid = 'users'::regclass`.execute(trx);
  const schema = found.rows[0]?.schema ?? 'public';
  // The operator who reads the report may take their time.
  await sql`set local idle_in_transaction_session_timeout = '5min'`.execute(trx);
  for (const table of tables) {
    await sql`create temporary table ${sql.id(table)}
      (like ${sql.id(schema, table)} including defaults including constraints including indexes)
      on commit drop`.execute(trx);
  }
  await sql`create temporary table copied_accounts (id uuid primary key) on commit drop`.execute(trx);
  // This also makes statements that the connection has prepared already look for their tables anew.
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
  // No trigger does this on the temporary tables.
  await sql`select know_sources(id) from accounts where not sources_known`.execute(trx);
}

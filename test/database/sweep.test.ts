// The sweep knows each table whose rows get old, and finds the expired rows by an index (docs/security/data.md, "Data").
import { getEventListeners } from 'node:events';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { deleteExpiredRows, lockExpiredRows } from '../../db/expired-rows.ts';
import { expired, sweep } from '../../server/doors/jobs/sweep.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);

/** The tables that no sweep empties, and why. The number of people and contracts limits their rows. */
const kept: Record<string, string> = {
  allocations: 'books, until their years are over',
  billing_details: 'goes with its account',
  billing_settings: 'books',
  document_files: 'books, until their years are over',
  document_series: 'books',
  documents: 'books, until their years are over',
  documents_to_make: 'goes once the document is made',
  vat_checks: 'books: evidence for invoices without tax',
  payments: 'books, until their years are over',
  accounts: 'until erased',
  users: 'until erased',
  erased_users: 'for ever: an id for each person who left',
  authenticators: 'as long as its user, one each',
  staff_notes: 'as long as its user, 100 each',
  recovery_codes: 'as long as its user, ten each',
  external_links: 'as long as its user',
  person_words: 'as long as its user, one each',
  people_to_index: 'until the job has looked at them, seconds later',
  passkeys: 'as long as its user, 20 each',
  passkey_challenge_keys: 'one row',
  service_contracts: 'for ever',
  contract_charges: 'for ever, so that each charge counts once',
  waiting_periods: 'until invoiced, and bounded by how long a contract runs',
  invoices: 'books, until their years are over',
  invoice_numbers: 'one row',
  invoice_changes: 'one row for each invoice',
  client_users: 'as long as its user, one for each client',
  event_sequences: 'one row for each client',
  event_deliveries: 'one row for each client',
  clients: 'for ever, 200 at most for each issuer',
  client_secrets: 'two at most for each client',
  client_changes: 'one row',
  oidc_keys: 'a few for each issuer: the job clients deletes each 30 days after the next one follows',
  lost_documents: 'for ever: a row for each number that a restore has lost',
  restores: 'for ever: a row for each restore of the database',
  kysely_migration: 'a row for each migration',
  kysely_migration_lock: 'one row',
};

it('every table is swept, or kept for a reason', async () => {
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(client.db);
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [...expired.map(({ table }) => table), ...Object.keys(kept)].sort(),
  );
});

it.each(expired.map((rows) => [rows.table, rows] as const))(
  'what has expired in %s is found by an index, oldest first',
  async (table, rows) => {
    const plan = await client.db.transaction().execute(async (trx) => {
      // The table is empty, and Postgres could choose any plan. These settings make it choose an index.
      await sql`set local enable_seqscan = off`.execute(trx);
      await sql`set local enable_bitmapscan = off`.execute(trx);
      const lines = await sql<{ 'QUERY PLAN': string }>`explain ${lockExpiredRows(rows, 1_000)}`.execute(trx);
      return lines.rows.map((line) => line['QUERY PLAN']).join('\n');
    });
    expect(plan).toContain(`Index Scan using ${table}_${rows.column}_idx`);
    expect(plan).toMatch(/Index Cond: \(\w+ < /);
    expect(plan).not.toMatch(/Sort|Filter/);
  },
);

it('takes the oldest first', async () => {
  await sql`insert into nonces select 'sweep', 'old-' || lpad(n::text, 20, '0'), now() - n * interval '1 day'
    from generate_series(1, 20) n`.execute(client.db);
  const [nonces] = expired.filter(({ table }) => table === 'nonces');
  expect(nonces && (await deleteExpiredRows(client.db, nonces, 5))).toBe(5);
  const { rows } = await sql<{ days: number }>`
    select max(round(extract(epoch from now() - expires_at) / 86400))::int as days from nonces`.execute(
    client.db,
  );
  expect(rows).toEqual([{ days: 15 }]);
});

it('leaves nothing behind on the signal that lives as long as the process', async () => {
  await sql`insert into nonces select 'sweep', 'gone-' || lpad(n::text, 20, '0'), now() - interval '1 day'
    from generate_series(1, 3000) n`.execute(client.db);
  const { signal } = new AbortController();
  await sweep(client, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('rests between batches for as long as they take', async () => {
  await sql`insert into nonces select 'sweep', 'past-' || lpad(n::text, 20, '0'), now() - interval '1 day'
    from generate_series(1, 3000) n`.execute(client.db);
  await sql`create table batches (at timestamptz)`.execute(client.db);
  await sql`create function slow_down() returns trigger language plpgsql as $$
    begin
      insert into batches values (clock_timestamp());
      perform pg_sleep(0.1);
      return null;
    end $$`.execute(client.db);
  await sql`create trigger slow_down before delete on nonces for each statement execute function slow_down()`.execute(
    client.db,
  );
  await sweep(client);
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from at - lag(at) over (order by at))::float * 1000 as ms from batches
    order by at offset 1`.execute(client.db);
  expect(rows.length).toBeGreaterThanOrEqual(3);
  for (const { ms } of rows) expect(ms).toBeGreaterThan(190);
});

// `contract_views` is a temporary table with the contracts as the CRM sees them, for a comparison with our contracts. The CRM's
// list may be in any order and larger than memory, so it is in a table.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { readSlices } from '../cursor.ts';
import type { DB } from '../schema.ts';
import { isInstant, occurredAt } from './service-contracts.ts';

/** `view` has the members to compare, in the form that our list of contracts has. It is null if the line cannot be read. */
export type ContractView = { line: number; signup_id: string; view: object | null };

/** The table has no index, because one sort at the end costs less than an index entry for each row. */
export async function createContractViews(trx: Transaction<DB>): Promise<void> {
  await sql`
    create temporary table contract_views (
      line integer not null,
      signup_id text collate "C" not null,
      view jsonb
    ) on commit drop`.execute(trx);
}

export async function insertContractViews(trx: Transaction<DB>, views: ContractView[]): Promise<void> {
  await sql`
    insert into pg_temp.contract_views (line, signup_id, view)
    select line, signup_id, view
    from jsonb_to_recordset(${JSON.stringify(views)}::jsonb) as given (line integer, signup_id text, view jsonb)`.execute(
    trx,
  );
}

/** `line` is null if the CRM's list lacks the signup. `ours` is null if we lack the signup. */
export type ContractDifference = {
  signup_id: string;
  line: number | null;
  /** The first line that names this signup. Later lines that name it are not compared. */
  first_line: number | null;
  ours: Record<string, unknown> | null;
  theirs: Record<string, unknown> | null;
};

/** Writes an instant as JavaScript does. */
const writeInstant = (at: RawBuilder<unknown>) =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const trialEndsAt = sql`case when ${isInstant('trial_ends_at')} then trial_ends_at end`;

const cancelsAt = sql`case when ${isInstant('cancels_at')} then cancels_at end`;

/** This must give the same result as `presentStatus` in server/billing/contracts/contract-states.ts. */
export const statusAt = (now: Date) => sql<string>`case
  when status not in ('trialing', 'active', 'past_due') then status
  when ${cancelsAt} <= ${now} then 'canceled'
  when status = 'trialing' and ${trialEndsAt} <= ${now} then 'expired' else status end`;

/** This must give the same result as `readPrice` in db/tables/service-contracts.ts. */
const quantity = sql`(case when price_each * price_quantity = price_unit_amount then price_quantity else 1 end)`;

/** This must give the same result as server/billing/contracts/contract-list.ts. */
const describeContracts = (now: Date) => sql`
  select signup_id collate "C" as signup_id, jsonb_build_object(
    'user_id', coalesce(user_id, erased_user_id),
    'status', ${statusAt(now)},
    'plan', plan,
    'trial_ends_at', ${writeInstant(trialEndsAt)},
    'cancels_at', ${writeInstant(cancelsAt)},
    'price', case when price_currency is not null then jsonb_build_object(
      'currency', price_currency, 'unit_amount', price_unit_amount / ${quantity}, 'interval', price_interval,
      'quantity', ${quantity}) end,
    'occurred_at', ${writeInstant(occurredAt)}
  ) as entry
  from service_contracts`;

/**
 * Yields repeated lines first, then signups that are missing here, only here, or different. One statement reads all at one
 * moment.
 */
export async function* findDifferences(
  trx: Transaction<DB>,
  now: Date,
): AsyncGenerator<ContractDifference[], void> {
  // Autovacuum does not analyze temporary tables. Without this, Postgres would not expect that the table may have a million
  // rows, and would choose a slow plan.
  await sql`analyze pg_temp.contract_views`.execute(trx);
  await sql`set local cursor_tuple_fraction = 1`.execute(trx);
  await sql`set local work_mem = '64MB'`.execute(trx);
  yield* readSlices<ContractDifference>(
    trx,
    'differences',
    sql`
      select signup_id, theirs.line, theirs.first_line, ours.entry as ours, theirs.view as theirs
      from (${describeContracts(now)}) ours
      full join (
        select signup_id, line, view, min(line) over (partition by signup_id) as first_line from pg_temp.contract_views
      ) theirs using (signup_id)
      where theirs.line is null or theirs.line > theirs.first_line or ours.entry is null
        or not ours.entry @> theirs.view
      order by case when theirs.line > theirs.first_line then theirs.line end, ours.entry is not null,
        theirs.line is not null, signup_id`,
  );
}

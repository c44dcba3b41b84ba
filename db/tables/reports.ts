// Reports income by month, contracts by plan, ending trials, and contracts past due. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { inForce } from './due-contracts.ts';

/** Amounts are in minor units. */
export type Income = {
  month: string;
  currency: string;
  category: string;
  rate: number;
  /** The country whose rules decided the tax. */
  country: string | null;
  net: number;
  tax: number;
};

/**
 * Returns invoices minus credit notes by month, the newest month first. The months go from `from` up to but not including
 * `before`. Includes the same documents as `readDocuments` of db/tables/accounting-export.ts.
 */
export async function sumIncome(
  db: Database,
  { from, before }: { from: string; before: string | undefined },
): Promise<Income[]> {
  const firstOf = (month: string) => sql`${`${month}-01`}::date`;
  const { rows } = await sql<Omit<Income, 'net' | 'tax'> & { net: string; tax: string }>`
    select to_char(issued_on, 'YYYY-MM') as month, currency, category, rate, country,
      sum(case kind when 'invoice' then net else -net end) as net,
      sum(case kind when 'invoice' then tax else -tax end) as tax
    from (
      -- Only few rows are left at this point, and an index has these columns in this order.
      select issued_on, kind, currency, category, rate, country, sum(net) as net, sum(tax) as tax from documents
      where issued_on >= ${firstOf(from)} ${before === undefined ? sql`` : sql`and issued_on < ${firstOf(before)}`}
      group by 1, 2, 3, 4, 5, 6) days
    group by 1, 2, 3, 4, 5
    order by 1 desc, currency, country nulls last, category, rate desc`.execute(db);
  return rows.map((row) => ({ ...row, net: Number(row.net), tax: Number(row.tax) }));
}

export async function hasIncomeBefore(db: Database, month: string): Promise<boolean> {
  const { rows } = await sql<{ isSo: boolean }>`
    select exists (select from documents where issued_on < ${`${month}-01`}::date) as "isSo"`.execute(db);
  return rows[0]?.isSo === true;
}

/** Active contracts by plan and currency. The sums of prices are text. `currency` is null if the contracts have no price. */
export type Recurring = {
  plan: string;
  currency: string | null;
  count: number;
  yearly: number;
  ofMonths: string;
  ofYears: string;
};

export async function sumRecurring(db: Database, now: Date): Promise<Recurring[]> {
  const { rows } = await sql<Recurring>`
    select plan, price_currency as currency, count(*)::int as count,
      (count(*) filter (where price_interval = 'year'))::int as yearly,
      coalesce(sum(price_unit_amount) filter (where price_interval = 'month'), 0)::text as "ofMonths",
      coalesce(sum(price_unit_amount) filter (where price_interval = 'year'), 0)::text as "ofYears"
    from service_contracts
    where status = 'active' and (cancels_at is null or cancels_at > ${now})
    group by 1, 2 order by 2 nulls last, 1`.execute(db);
  return rows;
}

type Listed = { signupId: string; plan: string; accountName: string | null; userId: string | null };

/** Returns trials that end after `now` and no later than `until`, the earliest first. */
export async function listTrialsEnding(
  db: Database,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<(Listed & { trialEndsAt: Date })[]> {
  const { rows } = await sql<Listed & { trialEndsAt: Date }>`
    select c.signup_id as "signupId", c.plan, a.name as "accountName", c.user_id as "userId", c.trial_ends_at as "trialEndsAt"
    from service_contracts c left join accounts a on a.id = c.account_id
    where c.status = 'trialing' and c.trial_ends_at > ${now} and c.trial_ends_at <= ${until}
      and (c.cancels_at is null or c.cancels_at > ${now})
    order by c.trial_ends_at, c.signup_id limit ${limit}`.execute(db);
  return rows;
}

type Sum = { currency: string; amount: number };

export type PastDue = Listed & { dueAt: Date; open: Sum[]; waiting: { count: number; sums: Sum[] } };

/**
 * Returns the longest overdue first. `open` is the sum of all open invoices of the contract. `waiting` is the sum of the prices
 * of periods that wait for payment.
 */
export async function listPastDue(
  db: Database,
  { now, limit }: { now: Date; limit: number },
): Promise<PastDue[]> {
  const { rows } = await sql<PastDue>`
    with ${inForce}, late as (
      select i.contract_id, min(i.due_at) as due_at from invoices i
      where i.status = 'open' and i.due_at <= ${now} group by i.contract_id
    ), picked as (
      select c.id, c.signup_id, c.plan, c.account_id, c.user_id, late.due_at
      from late join service_contracts c on c.id = late.contract_id
      where c.status = 'past_due' and (c.cancels_at is null or c.cancels_at > ${now})
      order by late.due_at, c.signup_id limit ${limit}
    )
    select p.signup_id as "signupId", p.plan, a.name as "accountName", p.user_id as "userId", p.due_at as "dueAt", (
      select json_agg(json_build_object('currency', currency, 'amount', amount) order by currency) from (
        select currency, sum(unit_amount - credited - allocated) as amount from invoices
        where contract_id = p.id and status = 'open' group by currency) sums) as open, (
      select json_build_object('count', coalesce(sum(count), 0),
          'sums', coalesce(json_agg(json_build_object('currency', currency, 'amount', amount) order by currency), '[]'))
      from (select currency, count(*) as count, sum(unit_amount) as amount from waiting_periods
        where contract_id = p.id and unit_amount > 0 and not (select invoices_past_due from in_force)
        group by currency) sums) as waiting
    from picked p left join accounts a on a.id = p.account_id
    order by p.due_at, p.signup_id`.execute(db);
  return rows;
}

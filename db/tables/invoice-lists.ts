// Lists everybody's contracts and invoices, and what waits for an administrator. This file only reads.
import { sql } from 'kysely';
import { countUpTo } from '../count.ts';
import { firstUuid, readSlicesById } from '../cursor.ts';
import type { Database } from '../postgres/client.ts';
import type { Invoices } from '../schema.ts';
import type { Invoice } from './invoices.ts';
import { type Contract, contractColumns, readContract } from './service-contracts.ts';

const sliceSize = 1_000;

/** Why the contract's next period is blocked. The next period is the first that is not invoiced yet. */
export const blockedCode = sql<string | null>`(
  select case when service_contracts.account_id is null then 'account_erased' else held_code end
  from waiting_periods where contract_id = service_contracts.id order by starts_at limit 1)`;

/** `email` is null if the user is erased. */
export type ListedContract = Contract & { held: string | null; email: string | null; createdAt: Date };

export const selectContracts = (db: Database) =>
  db
    .selectFrom('service_contracts')
    .select([...contractColumns, 'created_at as createdAt', blockedCode.as('held')])
    .select((eb) =>
      eb
        .selectFrom('users')
        .select('email')
        .whereRef('users.id', '=', 'service_contracts.user_id')
        .as('email'),
    );

export const toContract = (
  row: Awaited<ReturnType<ReturnType<typeof selectContracts>['execute']>>[number],
): ListedContract => ({
  ...readContract(row),
  held: row.held,
  email: row.email,
  createdAt: row.createdAt,
});

export const hasVatIdToCheck = (countries: string[]) => sql<boolean>`service_contracts.account_id in (
  select d.account_id from billing_details d where ${isVatIdToCheck(countries)})`;

type Filters = { accountId?: string | undefined; vatIdsOf?: string[] | undefined };

/**
 * Lists contracts in the order in which they were made. `vatIdsOf` names countries. If it is set, lists only contracts of
 * accounts whose VAT id belongs to one of these countries and waits for a check (contract 7.483).
 */
export const listAllContracts = (
  db: Database,
  { accountId, vatIdsOf }: Filters = {},
): AsyncGenerator<ListedContract[], void> =>
  readSlicesById<string, ListedContract>(firstUuid, async (after) => {
    const rows = await selectContracts(db)
      .where('id', '>', after)
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
      .$if(vatIdsOf !== undefined, (query) => query.where(hasVatIdToCheck(vatIdsOf ?? [])))
      .orderBy('id')
      .limit(sliceSize)
      .execute();
    return rows.map(toContract);
  });

export type ListedInvoice = {
  id: number;
  number: string;
  signupId: string;
  status: Invoices['status'];
  isOverdue: boolean;
  currency: string;
  total: number;
  open: number;
  issuedAt: Date;
  dueAt: Date;
  /**
   * The last day to pay, as the document says it. If the invoice has no document, this is the day of `dueAt` in the time zone.
   */
  dueOn: string;
  /** Null if the user is erased. */
  userId: string | null;
  email: string | null;
};

export type InvoiceRow = Omit<ListedInvoice, 'id' | 'total' | 'open'> & {
  id: string;
  total: string;
  open: string;
};

export const selectInvoices = ({ now, zone }: { now: Date; zone: string }) => sql`
  select i.number as id, coalesce(i.document, i.number::text) as number, c.signup_id as "signupId", i.status,
    i.status = 'open' and i.due_at <= ${now} as "isOverdue", i.currency, i.unit_amount as total,
    i.unit_amount - i.credited - i.allocated as open, i.issued_at as "issuedAt", i.due_at as "dueAt",
    coalesce(d.facts->>'due_on', (i.due_at at time zone ${zone})::date::text) as "dueOn", u.id as "userId", u.email
  from invoices i join service_contracts c on c.id = i.contract_id left join users u on u.id = c.user_id
    left join documents d on d.number = i.document`;

export const toInvoice = (row: InvoiceRow): ListedInvoice => ({
  ...row,
  id: Number(row.id),
  total: Number(row.total),
  open: Number(row.open),
});

export const listAllInvoices = (
  db: Database,
  { accountId, ...at }: { accountId?: string | undefined; now: Date; zone: string },
): AsyncGenerator<ListedInvoice[], void> =>
  readSlicesById<number, ListedInvoice>(0, async (after) => {
    const { rows } = await sql<InvoiceRow>`${selectInvoices(at)}
      where i.number > ${after} ${accountId === undefined ? sql`` : sql`and c.account_id = ${accountId}`}
      order by i.number limit ${sliceSize}`.execute(db);
    return rows.map(toInvoice);
  });

/** Says how long an open invoice has been overdue. */
export type Age = 'not_due' | 'to_30_days' | 'to_60_days' | 'to_90_days' | 'longer';

/** Returns the open amounts by currency and age. */
export async function sumOpen(
  db: Database,
  now: Date,
): Promise<{ currency: string; age: Age; count: number; amount: number }[]> {
  const { rows } = await sql<{ currency: string; age: Age; count: number; amount: string }>`
    select currency, case
        when due_at > ${now} then 'not_due'
        when due_at > ${now}::timestamptz - interval '30 days' then 'to_30_days'
        when due_at > ${now}::timestamptz - interval '60 days' then 'to_60_days'
        when due_at > ${now}::timestamptz - interval '90 days' then 'to_90_days'
        else 'longer' end as age,
      count(*)::int as count, sum(unit_amount - credited - allocated) as amount
    from invoices where status = 'open' group by 1, 2 order by 1, min(due_at) desc`.execute(db);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

export const countOpen = (db: Database, limit: number, { dueBefore }: { dueBefore?: Date } = {}) =>
  countUpTo(
    db,
    limit,
    sql`from invoices where status = 'open' and due_at <= ${dueBefore ?? sql`'infinity'`} order by due_at`,
  );

/** A list reads one more row than it shows, to find out whether there are more rows (contract 7.300). */
const listed = 101;

export async function listOverdue(
  db: Database,
  now: Date,
): Promise<{ number: string; buyer: string; currency: string; open: number; dueAt: Date }[]> {
  const { rows } = await sql<{ number: string; buyer: string; currency: string; open: string; dueAt: Date }>`
    select coalesce(i.document, i.number::text) as number, coalesce(d.facts #>> '{buyer,name}', i.buyer_name, '') as buyer,
      i.currency, i.unit_amount - i.credited - i.allocated as open, i.due_at as "dueAt"
    from invoices i left join documents d on d.number = i.document
    where i.status = 'open' and i.due_at <= ${now} order by i.due_at, i.number limit ${listed}`.execute(db);
  return rows.map((row) => ({ ...row, open: Number(row.open) }));
}

type Blocked = { signupId: string; plan: string; code: string; startsAt: Date; userId: string | null };

/** Contracts with a period that cannot be invoiced, the longest blocked first. */
export async function listBlocked(db: Database): Promise<Blocked[]> {
  const { rows } = await sql<Blocked>`
    select * from (
      select distinct on (contract_id) signup_id as "signupId", w.plan, ${blockedCode} as code, w.starts_at as "startsAt",
        user_id as "userId"
      from waiting_periods w join service_contracts on id = contract_id
      where w.held_code is not null order by contract_id, w.starts_at) held
    order by "startsAt", "signupId" limit ${listed}`.execute(db);
  return rows;
}

type Incomplete = { number: string; buyer: string; userId: string | null };

/** Lists invoices that lack the buyer's address, except invoices that are fully credited. The newest come first. */
export async function listIncomplete(db: Database): Promise<Incomplete[]> {
  const { rows } = await sql<Incomplete>`
    select d.number, d.facts #>> '{buyer,name}' as buyer, c.user_id as "userId"
    from documents d join invoices i on i.number = d.invoice join service_contracts c on c.id = i.contract_id
    where d.kind = 'invoice' and d.facts->'buyer'->'address' = 'null'::jsonb and i.status <> 'void'
    order by d.issued_at desc, d.number desc limit ${listed}`.execute(db);
  return rows;
}

type Ignored = { accountName: string; userId: string | null; ignored: string[] };

/** Finds accounts with billing details from the CRM that could not be stored, and JSON pointers to these details. */
export async function listIgnored(db: Database): Promise<Ignored[]> {
  const { rows } = await sql<Ignored>`
    select a.name as "accountName", d.ignored,
      (select u.id from users u where u.account_id = a.id order by u.id limit 1) as "userId"
    from billing_details d join accounts a on a.id = d.account_id
    where d.ignored <> '{}' order by a.name, a.id limit ${listed}`.execute(db);
  return rows;
}

type WaitingCountry = {
  accountName: string;
  userId: string | null;
  country: string | null;
  asked: string;
  since: Date;
};

/** Finds accounts with a new country that would change the tax and waits for an administrator. The longest waiting come first. */
export async function listWaitingCountries(db: Database): Promise<WaitingCountry[]> {
  const { rows } = await sql<WaitingCountry>`
    select a.name as "accountName", coalesce(d.country, d.tax_country) as country, d.waiting->>'country' as asked,
      d.waits_since as since, (select u.id from users u where u.account_id = a.id order by u.id limit 1) as "userId"
    from billing_details d join accounts a on a.id = d.account_id
    where d.waits_since is not null order by d.waits_since, a.id limit ${listed}`.execute(db);
  return rows;
}

export const countWaitingCountries = (db: Database, limit: number, { before }: { before?: Date } = {}) =>
  countUpTo(db, limit, sql`from billing_details where waits_since < ${before ?? sql`'infinity'`}`);

/**
 * Returns whether an administrator or VIES still has to check the VAT id of `billing_details d`. This is so if nobody has
 * decided about it and it may reverse the tax of a contract (contract 7.483). `countries` are the EU countries other than the
 * seller's.
 */
export const isVatIdToCheck = (countries: string[]) => sql<boolean>`(
  d.vat_id is not null and d.checked_vat_id is distinct from d.vat_id and d.refused_vat_id is distinct from d.vat_id
  and coalesce(d.country, d.tax_country) = any(${countries}::text[])
  and starts_with(d.vat_id, case coalesce(d.country, d.tax_country) when 'GR' then 'EL'
    else coalesce(d.country, d.tax_country) end)
  and exists (
    select from service_contracts c where c.account_id = d.account_id
      and (c.status in ('trialing', 'active', 'past_due')
        or exists (select from waiting_periods w where w.contract_id = c.id))))`;

type VatIdToCheck = { accountName: string; userId: string | null; vatId: string; since: Date | null };

/**
 * Finds accounts whose VAT id waits for a decision. `since` says when an invoice was first blocked. The longest waiting come
 * first.
 */
export async function listVatIdsToCheck(db: Database, countries: string[]): Promise<VatIdToCheck[]> {
  const { rows } = await sql<VatIdToCheck>`
    select a.name as "accountName", d.vat_id as "vatId", d.vat_id_waits_since as since,
      (select u.id from users u where u.account_id = a.id order by u.id limit 1) as "userId"
    from billing_details d join accounts a on a.id = d.account_id
    where ${isVatIdToCheck(countries)} order by d.vat_id_waits_since nulls last, a.id limit ${listed}`.execute(
    db,
  );
  return rows;
}

/**
 * Counts at most `limit` rows. With `asking`, leaves out VAT ids that VIES was not asked about yet. Also leaves out VAT ids that
 * VIES is being asked about now, which means that their next try is between `now` and `until`.
 */
export async function countVatIdsToCheck(
  db: Database,
  limit: number,
  countries: string[],
  asking?: { now: Date; until: Date },
): Promise<number> {
  const isAsked = asking
    ? sql`(d.vat_id_ask_at <= ${asking.now} or d.vat_id_ask_at > ${asking.until})`
    : sql`true`;
  return countUpTo(db, limit, sql`from billing_details d where ${isVatIdToCheck(countries)} and ${isAsked}`);
}

/** Finds documents whose files could not be made. */
export async function listUnmade(
  db: Database,
): Promise<{ number: string; tries: number; lastError: string; nextTryAt: Date }[]> {
  return db
    .selectFrom('documents_to_make')
    .select(['number', 'tries', 'last_error as lastError', 'next_try_at as nextTryAt'])
    .where('last_error', 'is not', null)
    .$narrowType<{ lastError: string }>()
    .orderBy('number')
    .limit(listed)
    .execute();
}

/** Finds documents that were made since a day and have letters shown as □ in their PDF. The newest come first. */
export async function listUnprinted(
  db: Database,
  since: Date,
): Promise<{ number: string; letters: string }[]> {
  return db
    .selectFrom('document_files')
    .select(['number', 'unprinted as letters'])
    .where('unprinted', 'is not', null)
    .$narrowType<{ letters: string }>()
    .where('made_at', '>=', since)
    .orderBy('made_at', 'desc')
    .orderBy('number')
    .limit(listed)
    .execute();
}

/** Returns unallocated money by currency. Refunds that no payment covers are listed separately, with an amount below 0. */
export async function sumUnallocated(
  db: Database,
): Promise<{ currency: string; isRefund: boolean; count: number; amount: number }[]> {
  const { rows } = await sql<{ currency: string; isRefund: boolean; count: number; amount: string }>`
    select currency, unallocated < 0 as "isRefund", count(*)::int as count, sum(unallocated) as amount
    from payments where unallocated <> 0 group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, amount: Number(row.amount) }));
}

/** Returns the number of the invoice that replaces a void invoice for the same period. */
export async function findReplacement(
  db: Database,
  { id, contractId, periodStartsAt }: Pick<Invoice, 'id' | 'contractId' | 'periodStartsAt'>,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('invoices')
    .select(sql<string>`coalesce(document, number::text)`.as('number'))
    .where('contract_id', '=', contractId)
    .where('period_starts_at', '=', periodStartsAt)
    .where('number', '>', String(id))
    .orderBy('number')
    .limit(1)
    .executeTakeFirst();
  return row?.number;
}

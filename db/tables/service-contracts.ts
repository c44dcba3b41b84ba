// The only writer of `service_contracts`. Which state may follow which is decided in
// server/billing/contracts/contract-states.ts. The stored status of a trial may stay `trialing` for a while after its end.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB, ServiceContracts } from '../schema.ts';

export type ContractStatus = ServiceContracts['status'];

/** `unitAmount` in minor units of the ISO 4217 currency. */
export type Price = { currency: string; unitAmount: number; interval: 'month' | 'year' };

/** What was agreed, and since when it is known. */
export type ContractTerms = {
  plan: string;
  status: ContractStatus;
  trialEndsAt: Date | null;
  price: Price | null;
  occurredAt: Date;
  /** The first instant that no invoice covers yet; null before there was anything to invoice. */
  nextPeriodStartsAt: Date | null;
  /** Day of the month on which periods begin, if the month has that day. */
  billingAnchorDay: number | null;
};

/** When a customer ends it, if they do: from then on it is canceled. Only `setCancelsAt` changes that. */
type Ending = { cancelsAt: Date | null };

export type Contract = ContractTerms &
  Ending & { id: string; userId: string; accountId: string; signupId: string };

/**
 * Whether a time is an instant that readers can use: a time set by SQL may be 'infinity', or in the year 10000 (`readSetTime`).
 */
export const isInstant = (column: string) =>
  sql<boolean>`(${sql.ref(column)} >= '0001-01-01Z' and ${sql.ref(column)} < '10000-01-01Z')`;

/**
 * The time of the last report that was applied. If that is no instant, when the contract was made: then the next report counts.
 */
export const occurredAt = sql<Date>`
  case when ${isInstant('occurred_at')} then occurred_at else date_trunc('milliseconds', created_at) end`;

/** The ids stay when their user is erased. */
export const contractColumns = [
  'id',
  sql<string>`coalesce(user_id, erased_user_id)`.as('user_id'),
  sql<string>`coalesce(account_id, erased_account_id)`.as('account_id'),
  'signup_id',
  'plan',
  'status',
  'trial_ends_at',
  'price_currency',
  'price_unit_amount',
  'price_interval',
  occurredAt.as('occurred_at'),
  'next_period_starts_at',
  'billing_anchor_day',
  'cancels_at',
] as const;

const selectForUpdate = (column: 'id' | 'signup_id') =>
  prepare((db, { value }: { value: string }) =>
    db.selectFrom('service_contracts').select(contractColumns).where(column, '=', value).forUpdate(),
  );
const locks = { id: selectForUpdate('id'), signupId: selectForUpdate('signup_id') };

/** Locks the contract until the transaction ends. */
export async function lockContract(
  trx: Transaction<DB>,
  key: { id: string } | { signupId: string },
): Promise<Contract | undefined> {
  const [lock, value] = 'id' in key ? [locks.id, key.id] : [locks.signupId, key.signupId];
  const [row] = await lock(trx, { value });
  return row && readContract(row);
}

/** Whether the signup of this contract made its account: both were added in one transaction. */
export async function hasMadeAccount(db: Database, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('service_contracts as c')
    .innerJoin('accounts as a', 'a.id', 'c.account_id')
    .select('c.id')
    .where('c.id', '=', id)
    .whereRef('a.created_at', '=', 'c.created_at')
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes no lock. */
export async function findContract(
  db: Database,
  key: { id: string } | { signupId: string },
): Promise<Contract | undefined> {
  const [column, value] = 'id' in key ? (['id', key.id] as const) : (['signup_id', key.signupId] as const);
  const row = await db
    .selectFrom('service_contracts')
    .select(contractColumns)
    .where(column, '=', value)
    .executeTakeFirst();
  return row && readContract(row);
}

const insert = prepareDeferred((db, row: ReturnType<typeof writeRow>) =>
  db.insertInto('service_contracts').values({
    id: row.id,
    user_id: row.user_id,
    account_id: row.account_id,
    signup_id: row.signup_id,
    plan: row.plan,
    status: row.status,
    trial_ends_at: row.trial_ends_at,
    price_currency: row.price_currency,
    price_unit_amount: row.price_unit_amount,
    price_interval: row.price_interval,
    occurred_at: row.occurred_at,
    next_period_starts_at: row.next_period_starts_at,
    billing_anchor_day: row.billing_anchor_day,
  }),
);

export function deferContract(trx: Transaction<DB>, contract: Contract): void {
  insert(trx, writeRow(contract));
}

export async function updateContract(trx: Transaction<DB>, id: string, terms: ContractTerms): Promise<void> {
  await trx.updateTable('service_contracts').set(writeTerms(terms)).where('id', '=', id).execute();
}

/** Sets when the contract ends, or that it goes on. */
export async function setCancelsAt(trx: Transaction<DB>, id: string, cancelsAt: Date | null): Promise<void> {
  await trx.updateTable('service_contracts').set({ cancels_at: cancelsAt }).where('id', '=', id).execute();
}

/** The ids of all contracts of the account, in one order for all callers that lock them. */
export async function listContractIds(db: Database, accountId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Leaves only the ids of a user who is about to be erased, and of their account. With `keepsAccount` the contracts stay
 * with the account, which others belong to.
 */
export async function detachContracts(
  trx: Transaction<DB>,
  { userId, accountId, keepsAccount }: { userId: string; accountId: string; keepsAccount: boolean },
): Promise<void> {
  await trx
    .updateTable('service_contracts')
    .set({ user_id: null, erased_user_id: userId })
    .where('user_id', '=', userId)
    .execute();
  if (keepsAccount) return;
  await trx
    .updateTable('service_contracts')
    .set({ account_id: null, erased_account_id: accountId })
    .where('account_id', '=', accountId)
    .execute();
}

/** The account's contracts, the newest first. */
export async function listContracts(db: Database, accountId: string): Promise<Contract[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select(contractColumns)
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(100)
    .execute();
  return rows.map(readContract);
}

/** The states of the account's contracts, each once; a trial as it is stored, with the latest end of one. */
export async function listContractStates(
  db: Database,
  accountId: string,
): Promise<Pick<Contract, 'status' | 'trialEndsAt' | 'cancelsAt'>[]> {
  const rows = await db
    .selectFrom('service_contracts')
    .select(({ fn }) => ['status', fn.max('trial_ends_at').as('trial_ends_at'), 'cancels_at'])
    .where('account_id', '=', accountId)
    .groupBy(['status', 'cancels_at'])
    .execute();
  return rows.map(({ status, trial_ends_at, cancels_at }) => ({
    status,
    trialEndsAt: readSetTime(trial_ends_at),
    cancelsAt: readSetTime(cancels_at),
  }));
}

/**
 * Gives the next `limit` contracts without a place in the order of arrival their places. Others wait until the transaction
 * ends, so no contract gets a place before one that somebody has read.
 */
export async function numberArrivals(trx: Transaction<DB>, limit: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('contract arrivals', 0))`.execute(trx);
  await sql`
    update service_contracts c set arrival_number = next.number
    from (
      select id, row_number() over (order by created_at, id)
        + (select coalesce(max(arrival_number), 0) from service_contracts) as number
      from service_contracts where arrival_number is null
      order by created_at, id limit ${limit}
    ) next
    where c.id = next.id`.execute(trx);
}

/** Whether the contract has its place in the order of arrival. */
export async function hasArrivalNumber(db: Database, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('service_contracts')
    .select('id')
    .where('id', '=', id)
    .where('arrival_number', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** The contracts with a place in the order of arrival, starting after `after`. */
export async function listArrivals(
  db: Database,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<Contract[]> {
  let query = db
    .selectFrom('service_contracts')
    .select(contractColumns)
    .where('arrival_number', 'is not', null);
  if (after !== undefined) {
    query = query.where('arrival_number', '>', (eb) =>
      eb.selectFrom('service_contracts').select('arrival_number').where('id', '=', after),
    );
  }
  return (await query.orderBy('arrival_number').limit(limit).execute()).map(readContract);
}

const writeRow = (contract: Contract) => ({
  id: contract.id,
  user_id: contract.userId,
  account_id: contract.accountId,
  signup_id: contract.signupId,
  ...writeTerms(contract),
});

const writeTerms = (terms: ContractTerms) => ({
  plan: terms.plan,
  status: terms.status,
  trial_ends_at: terms.trialEndsAt,
  price_currency: terms.price?.currency ?? null,
  price_unit_amount: terms.price?.unitAmount ?? null,
  price_interval: terms.price?.interval ?? null,
  occurred_at: terms.occurredAt,
  next_period_starts_at: terms.nextPeriodStartsAt,
  billing_anchor_day: terms.billingAnchorDay,
});

type Row = Omit<Selectable<ServiceContracts>, 'user_id' | 'account_id'> & {
  user_id: string;
  account_id: string;
};

/** The price; a constraint sees that all three columns are set, or none. */
export const readPrice = (row: {
  price_currency: string | null;
  price_unit_amount: string | number | null;
  price_interval: Price['interval'] | null;
}): Price | null =>
  row.price_currency && row.price_interval
    ? {
        currency: row.price_currency,
        unitAmount: Number(row.price_unit_amount),
        interval: row.price_interval,
      }
    : null;

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** A time set by SQL may be 'infinity', or in the year 10000, which readers cannot use: then the result is null. */
export const readSetTime = (at: Date | null): Date | null =>
  at instanceof Date && at.getTime() >= firstInstant && at.getTime() <= lastInstant ? at : null;

export const readContract = (
  row: Pick<
    Row,
    Extract<(typeof contractColumns)[number], string> | 'user_id' | 'account_id' | 'occurred_at'
  >,
): Contract => ({
  id: row.id,
  userId: row.user_id,
  accountId: row.account_id,
  signupId: row.signup_id,
  plan: row.plan,
  status: row.status,
  trialEndsAt: readSetTime(row.trial_ends_at),
  price: readPrice(row),
  occurredAt: row.occurred_at,
  nextPeriodStartsAt: row.next_period_starts_at,
  billingAnchorDay: row.billing_anchor_day,
  cancelsAt: readSetTime(row.cancels_at),
});

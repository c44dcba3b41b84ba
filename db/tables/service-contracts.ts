// The only writer of `service_contracts`. server/billing/contracts/contract-states.ts decides which state may follow another. An
// ended trial may be stored as `trialing` for a while.
import { type Selectable, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred } from '../postgres/prepare.ts';
import type { DB, ServiceContracts } from '../schema.ts';

export type ContractStatus = ServiceContracts['status'];

/** The price of a period. `unitAmount` is for all `quantity` together, in minor units of the ISO 4217 currency. */
export type Price = { currency: string; unitAmount: number; quantity: number; interval: 'month' | 'year' };

export type ContractTerms = {
  plan: string;
  status: ContractStatus;
  trialEndsAt: Date | null;
  price: Price | null;
  occurredAt: Date;
  /** The first instant that no invoice covers. Null if there was never anything to invoice. */
  nextPeriodStartsAt: Date | null;
  /** The day of the month on which periods begin. If a month is too short, they begin on its last day. */
  billingAnchorDay: number | null;
};

/**
 * `cancelsAt` is when the contract ends or has ended. It is the earlier of two ends: the end that the last report said, and the
 * end that somebody chose here.
 */
export type Ending = Record<'cancelsAt' | 'reportedCancelsAt' | 'chosenCancelsAt', Date | null>;

export type Contract = ContractTerms &
  Ending & { id: string; userId: string; accountId: string; signupId: string };

/**
 * Returns the condition that readers can use a time (`readSetTime`). A time set by SQL may be 'infinity' or in the year 10000.
 */
export const isInstant = (column: string) =>
  sql<boolean>`(${sql.ref(column)} >= '0001-01-01Z' and ${sql.ref(column)} < '10000-01-01Z')`;

/**
 * The time of the last stored report. If SQL has set a time that readers cannot use, this is the time at which the contract was
 * made. So the next report counts as newer, and is stored.
 */
export const occurredAt = sql<Date>`
  case when ${isInstant('occurred_at')} then occurred_at else date_trunc('milliseconds', created_at) end`;

/** After an erasure, `user_id` and `account_id` are still the ids of the erased user and account. */
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
  'reported_cancels_at',
  'chosen_cancels_at',
  'price_each',
  'price_quantity',
] as const;

const selectForUpdate = (column: 'id' | 'signup_id') =>
  prepare((db, { value }: { value: string }) =>
    db.selectFrom('service_contracts').select(contractColumns).where(column, '=', value).forUpdate(),
  );
const locks = { id: selectForUpdate('id'), signupId: selectForUpdate('signup_id') };

export async function lockContract(
  trx: Transaction<DB>,
  key: { id: string } | { signupId: string },
): Promise<Contract | undefined> {
  const [lock, value] = 'id' in key ? [locks.id, key.id] : [locks.signupId, key.signupId];
  const [row] = await lock(trx, { value });
  return row && readContract(row);
}

/** Returns whether the signup of this contract created its account. If so, one transaction added both, at the same time. */
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
    price_each: row.price_each,
    price_quantity: row.price_quantity,
    cancels_at: row.cancels_at,
    reported_cancels_at: row.reported_cancels_at,
    chosen_cancels_at: row.chosen_cancels_at,
  }),
);

export function deferContract(trx: Transaction<DB>, contract: Contract): void {
  insert(trx, writeRow(contract));
}

export async function updateContract(trx: Transaction<DB>, id: string, terms: ContractTerms): Promise<void> {
  await trx.updateTable('service_contracts').set(writeTerms(terms)).where('id', '=', id).execute();
}

/**
 * `cancelsAt` is the end that somebody chose here, or the end that the CRM reported. If it is null, the contract continues. The
 * table always keeps the end that the CRM reported, too.
 */
export async function setCancelsAt(trx: Transaction<DB>, id: string, cancelsAt: Date | null): Promise<void> {
  await trx
    .updateTable('service_contracts')
    .set({ cancels_at: cancelsAt, chosen_cancels_at: null })
    .where('id', '=', id)
    .execute();
}

export async function setEnding(trx: Transaction<DB>, id: string, ending: Ending): Promise<void> {
  await trx.updateTable('service_contracts').set(writeEnding(ending)).where('id', '=', id).execute();
}

/** The unpaid periods from this instant on must be credited (contract 7.528). Null after that has been done. */
export async function setCreditFrom(trx: Transaction<DB>, id: string, from: Date | null): Promise<void> {
  await trx.updateTable('service_contracts').set({ credit_from: from }).where('id', '=', id).execute();
}

export async function findCreditFrom(db: Database, id: string): Promise<Date | null> {
  const row = await db
    .selectFrom('service_contracts')
    .select('credit_from')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.credit_from ?? null;
}

/** Lists ids in the same order for all callers, which then lock the contracts. */
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
 * Call this before an erasure. The contracts keep only the ids of the erased user and account. `keepsAccount` says that other
 * users belong to the account, so it is not erased.
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

/** Lists the different states that are stored. Trials that end at different times are one state, with the latest end. */
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

/** Numbers the next `limit` contracts. Other callers wait until the transaction ends, so that numbers become visible in order. */
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

export async function hasArrivalNumber(db: Database, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('service_contracts')
    .select('id')
    .where('id', '=', id)
    .where('arrival_number', 'is not', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lists contracts in the order of arrival, beginning after the contract with the id `after`. */
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
  ...writeEnding(contract),
});

const writeEnding = (ending: Ending) => ({
  cancels_at: ending.cancelsAt,
  reported_cancels_at: ending.reportedCancelsAt,
  chosen_cancels_at: ending.chosenCancelsAt,
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
  ...writeQuantity(terms.price),
});

const writeQuantity = (price: Price | null) =>
  price && price.quantity > 1
    ? { price_each: price.unitAmount / price.quantity, price_quantity: price.quantity }
    : { price_each: null, price_quantity: null };

type Row = Pick<
  Selectable<ServiceContracts>,
  Extract<(typeof contractColumns)[number], string> | 'occurred_at'
> & { user_id: string; account_id: string };

/**
 * A constraint makes the first three columns all null or all set. Version 1.0.0 may change the amount without changing the
 * quantity. So until 1.2.0, the quantity is used only if the amount is `price_each` times the quantity.
 */
export const readPrice = (row: {
  price_currency: string | null;
  price_unit_amount: string | number | null;
  price_interval: Price['interval'] | null;
  price_each?: string | number | null;
  price_quantity?: number | null;
}): Price | null => {
  if (!row.price_currency || !row.price_interval) return null;
  const [unitAmount, quantity] = [Number(row.price_unit_amount), row.price_quantity ?? 1];
  return {
    currency: row.price_currency,
    unitAmount,
    quantity: Number(row.price_each) * quantity === unitAmount ? quantity : 1,
    interval: row.price_interval,
  };
};

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

/** SQL may set a time that readers cannot use, such as 'infinity' or the year 10000. This returns null for such a time. */
export const readSetTime = (at: Date | null): Date | null =>
  at instanceof Date && at.getTime() >= firstInstant && at.getTime() <= lastInstant ? at : null;

export const readContract = (row: Row): Contract => ({
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
  ...readEnding(row),
});

/**
 * If the contract ends at the reported end, `chosen_cancels_at` has the end that was chosen here. Otherwise `cancels_at` has it,
 * because version 1.0.0 and `setCancelsAt` write it only there.
 */
function readEnding(row: Pick<Row, 'cancels_at' | 'reported_cancels_at' | 'chosen_cancels_at'>): Ending {
  const cancelsAt = readSetTime(row.cancels_at);
  const reportedCancelsAt = readSetTime(row.reported_cancels_at);
  const chosenCancelsAt = endsByReport({ cancelsAt, reportedCancelsAt })
    ? readSetTime(row.chosen_cancels_at)
    : cancelsAt;
  return { cancelsAt, reportedCancelsAt, chosenCancelsAt };
}

/** Returns whether the CRM decided the end. Nobody can take back such an end here (contract 7.526). */
export const endsByReport = ({
  cancelsAt,
  reportedCancelsAt,
}: Pick<Ending, 'cancelsAt' | 'reportedCancelsAt'>): boolean =>
  cancelsAt !== null && cancelsAt.getTime() === reportedCancelsAt?.getTime();

// Reads and erases `changes`: the history of people, accounts, links and contracts. Only triggers add to it (record_change in
// db/schema.sql).
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { runInBatches } from '../batches.ts';
import type { Database } from '../postgres/client.ts';
import type { Origin } from '../postgres/transactions.ts';
import type { DB } from '../schema.ts';

export type Subject = 'user' | 'account' | 'link' | 'contract';

/** Times are text, in UTC. */
export type Value = string | number | boolean | string[] | null;

export type Members = Record<string, { from: Value; to: Value }>;

export type Change = {
  id: string;
  /** A text with the time in UTC, to the microsecond. Such texts sort by time. */
  at: string;
  subject: Subject;
  /** The id of the row. For a link, this is the provider and the person's id there. Null for an erased link. */
  rowId: string | null;
  userId: string | null;
  accountId: string | null;
  /** `found` means that the row existed before the history began. It is shown as it was before its first change. */
  kind: 'found' | 'created' | 'changed' | 'removed';
  /** Null if the members were erased. */
  members: Members | null;
  /** Null for a change of the kind `found`. */
  by: Origin['by'] | 'database' | null;
  byUser: string | null;
  requestId: string | null;
  cause: string | null;
  actorId: string | null;
  why: string | null;
  /** The role in Postgres that made the change. */
  role: string;
};

export const tracked: Record<Subject, { table: string; columns: string[] }> = {
  user: {
    table: 'users',
    columns: [
      ...['account_id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role'],
      ...['suspended_at', 'deletion_due_at', 'time_zone'],
    ],
  },
  account: {
    table: 'accounts',
    columns: [
      ...['name', 'name_edited_at', 'capabilities', 'verified_at'],
      ...['granted_here', 'revoked_here', 'verified_here'],
    ],
  },
  link: {
    table: 'external_links',
    columns: ['provider', 'external_id', 'user_id', 'sleeping_since', 'capabilities', 'verified'],
  },
  contract: {
    table: 'service_contracts',
    columns: [
      ...['signup_id', 'user_id', 'account_id', 'erased_user_id', 'erased_account_id', 'plan', 'status'],
      ...[
        'trial_ends_at',
        'price_currency',
        'price_unit_amount',
        'price_interval',
        'occurred_at',
        'cancels_at',
      ],
    ],
  },
};

const instantText = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';

const changeColumns = sql`c.id::text, to_char(c.at at time zone 'UTC', ${sql.lit(instantText)}) as at, c.subject,
  c.row_id as "rowId", c.user_id as "userId", c.account_id as "accountId", c.kind, c.members, c.by,
  c.by_user as "byUser", c.request_id as "requestId", c.cause, c.actor_id as "actorId", c.why, c.role`;

/** Returns the changes of a user, who may be erased, and of all accounts that the user belonged to. The oldest come first. */
export async function listChangesOfUser(
  db: Database,
  { userId, accountId }: { userId: string; accountId: string | null },
): Promise<Change[]> {
  const { rows } = await sql<Change>`
    select ${changeColumns} from changes c where c.user_id = ${userId}
    union all
    select ${changeColumns} from changes c where c.subject = 'account' and c.row_id in (
      select account_id::text from changes where user_id = ${userId} and subject = 'user' union select ${accountId})
    order by at, id`.execute(db);
  return rows;
}

/** Returns the changes of a user and of their current account, the newest first. */
export async function listNewestChanges(
  db: Database,
  { userId, accountId, limit }: { userId: string; accountId: string; limit: number },
): Promise<Change[]> {
  const newest = (which: RawBuilder<unknown>) =>
    sql`(select c.* from changes c where ${which} order by c.began_at desc, c.id desc limit ${limit})`;
  const { rows } = await sql<Change>`
    select ${changeColumns} from (
      ${newest(sql`c.user_id = ${userId}`)}
      union all ${newest(sql`c.subject = 'account' and c.row_id = ${accountId}`)}
    ) c order by c.began_at desc, c.id desc limit ${limit}`.execute(db);
  return rows;
}

export async function listFormerAddresses(db: Database, userId: string): Promise<string[]> {
  // If the user typed an address before they held any, that address is not listed.
  const { rows } = await sql<{ email: string }>`
    select distinct members -> 'email' ->> 'from' as email from changes
    where user_id = ${userId} and subject = 'user' and kind = 'changed' and members ? 'email' and id > (
      select min(id) from changes
      where user_id = ${userId} and subject = 'user' and members -> 'holds_email' -> 'to' = 'true')`.execute(
    db,
  );
  return rows.map(({ email }) => email);
}

export type Row = Record<string, Value>;

/** Leaves out members that are null. Returns undefined if the row did not exist at `at`. */
export async function readTrackedRow(
  db: Database,
  { subject, id, at }: { subject: 'user' | 'account'; id: string; at: string },
): Promise<Row | undefined> {
  const { table } = tracked[subject];
  const { rows } = await sql<{ row: Row }>`
    select ${selectTracked(subject)} as row from ${sql.table(table)} t where t.id = ${id} and t.created_at <= ${at}`.execute(
    db,
  );
  return rows[0]?.row;
}

/** Selects the tracked columns of a row that the statement calls `t`. */
export const selectTracked = (subject: Subject): RawBuilder<Row> => sql<Row>`(
  select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(jsonb_strip_nulls(to_jsonb(t)))
  where key = any(${tracked[subject].columns}))`;

/**
 * Erases the changes of the user and of their links, in batches. With `accountId`, also erases the changes of the account. When
 * the rows themselves are deleted, triggers (erase_changes) erase what is left. If SQL deletes the user, triggers erase
 * everything.
 */
export async function eraseChangesOf(
  trx: Transaction<DB>,
  { userId, accountId }: { userId: string; accountId: string | undefined },
): Promise<void> {
  await eraseChanges(trx, sql`user_id = ${userId} and subject in ('user', 'link')`);
  if (accountId !== undefined) await eraseChanges(trx, sql`row_id = ${accountId} and subject = 'account'`);
}

const eraseChanges = (trx: Transaction<DB>, which: RawBuilder<unknown>): Promise<void> =>
  runInBatches(
    trx,
    (limit) => sql`
      update changes set members = null, erased_at = clock_timestamp(), request_id = null, cause = null, why = null,
          row_id = case subject when 'link' then null else row_id end
        where id in (select id from changes where ${which} and erased_at is null limit ${limit})`,
  );

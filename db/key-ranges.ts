// Changes all rows of a large table, or all rows of one user, with several statements, each well under the statement timeout.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

const batchSize = 1_000;

type Rows = {
  table: keyof DB;
  /** A column with an index. */
  key: string;
  /** Set it to change only rows of this user. An index on the user and the key must exist. */
  userId?: string;
};

/**
 * Runs `change` for one range of keys after another. Until a transaction ends, rows that it has changed or deleted stay in the
 * indexes. With ranges, Postgres does not look at such rows again.
 */
export async function runByKeyRanges(
  trx: Transaction<DB>,
  { table, key, userId }: Rows,
  change: (isInRange: RawBuilder<boolean>) => Promise<unknown>,
): Promise<void> {
  const name = sql.ref(key);
  // If this were "=" instead of "between", Postgres might scan the rows of all users in the order of the key.
  const isTheirs = userId === undefined ? sql`true` : sql`user_id between ${userId} and ${userId}`;
  const order = userId === undefined ? name : sql`user_id, ${name}`;
  let isBehind = sql<boolean>`true`;
  for (;;) {
    const { rows } = await sql<{ last: unknown }>`select ${name} as last from ${sql.table(table)}
      where ${isTheirs} and ${isBehind} order by ${order} offset ${sql.lit(batchSize - 1)} limit 1`.execute(
      trx,
    );
    const last = rows[0]?.last;
    const isBefore = last === undefined ? sql`true` : sql`${name} <= ${last}`;
    await change(sql<boolean>`(${isTheirs} and ${isBehind} and ${isBefore})`);
    if (last === undefined) return;
    isBehind = sql<boolean>`${name} > ${last}`;
  }
}

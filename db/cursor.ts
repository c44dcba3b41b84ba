// Reads results that may be larger than memory, in slices of rows.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

const sliceSize = 1_000;

/** Reads slices from a cursor. All slices show the database as of one moment. */
export async function* readSlices<Row>(
  trx: Transaction<DB>,
  name: string,
  query: RawBuilder<Row>,
): AsyncGenerator<Row[], void> {
  await sql`declare ${sql.id(name)} no scroll cursor for ${query}`.execute(trx);
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(sliceSize)} from ${sql.id(name)}`.execute(trx);
    if (rows.length === 0) break;
    yield rows;
  }
  await sql`close ${sql.id(name)}`.execute(trx);
}

export const firstUuid = '00000000-0000-0000-0000-000000000000';

/** Reads slices in the order of `id`. `read` returns the rows after an id. No transaction stays open between two slices. */
export async function* readSlicesById<Id, Row extends { id: Id }>(
  first: Id,
  read: (after: Id) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  for (let after = first; ; ) {
    const rows = await read(after);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.id;
  }
}

// Reads what may be larger than memory: slices of rows from a cursor, all of one moment.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { DB } from './schema.ts';

const sliceSize = 1_000;

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

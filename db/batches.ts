// Changes many rows with several statements, each well under the statement timeout.
import type { RawBuilder, Transaction } from 'kysely';
import type { DB } from './schema.ts';

const batchSize = 5_000;

/** Repeats a statement that changes at most `limit` rows. The statement must not find rows that it has changed already. */
export async function runInBatches(
  trx: Transaction<DB>,
  buildStatement: (limit: number) => RawBuilder<unknown>,
): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await buildStatement(batchSize).execute(trx);
    if (Number(numAffectedRows) < batchSize) return;
  }
}

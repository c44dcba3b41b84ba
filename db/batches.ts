// Changes of many rows, in statements that each take well under the time that one may take.
import type { RawBuilder, Transaction } from 'kysely';
import type { DB } from './schema.ts';

const batchSize = 5_000;

/** Runs a statement that changes `limit` rows at most, until it finds fewer. It must not find again what it has changed. */
export async function runInBatches(
  trx: Transaction<DB>,
  buildStatement: (limit: number) => RawBuilder<unknown>,
): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await buildStatement(batchSize).execute(trx);
    if (Number(numAffectedRows) < batchSize) return;
  }
}

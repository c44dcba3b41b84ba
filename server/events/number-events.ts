// Numbers events after the commit, one transaction at a time for each client. If the transaction of a change numbered its
// events, a rollback would leave a gap, and a late commit would add a number that readers have already passed. So triggers
// append events without a number, and every reader numbers them first (docs/inside/decisions/event-numbers.md).
import { isDatabaseBusy } from '../../db/postgres/away.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { listUnnumberedClients, numberEvents } from '../../db/tables/events.ts';
import { limitLockWait } from '../../db/timeouts.ts';
import type { Dependencies } from '../ground/dependencies.ts';

// Numbering a batch takes about 20 milliseconds.
const batchSize = 1_000;

export const numberBatch = (db: Database, client: string, options?: Parameters<typeof inTransaction>[3]) =>
  inTransaction(
    db,
    { by: 'service', cause: 'events' },
    (trx) => numberEvents(trx, client, batchSize),
    options,
  );

/** Skips a client whose events another transaction is numbering, so that no other client waits. The next run tries again. */
const numberUnlessBusy = (db: Database, client: string) =>
  inTransaction(db, { by: 'service', cause: 'events' }, async (trx) => {
    await limitLockWait(trx);
    return numberEvents(trx, client, batchSize);
  }).catch((error) => {
    if (isDatabaseBusy(error)) return { numbered: 0, hasMore: false };
    throw error;
  });

/**
 * Numbers the events of all clients, even of clients that do not pull or are no longer configured. Any number of instances may
 * run this at the same time.
 */
export async function numberAllEvents({ db }: Pick<Dependencies, 'db'>, signal?: AbortSignal): Promise<void> {
  for (const client of await listUnnumberedClients(db)) {
    for (let hasMore = true; hasMore && !signal?.aborted; )
      ({ hasMore } = await numberUnlessBusy(db, client));
  }
}

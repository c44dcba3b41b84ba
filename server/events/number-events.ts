// The sequencer: gives events their numbers, after the commit and one at a time for each client.
//
// A number taken in the transaction that makes a change would leave a gap if the transaction is rolled back, and appear behind
// a reader that has passed it if the transaction commits late. So triggers append events without a number, and every reader
// numbers them first. Why nothing is lost or out of turn (docs/decisions/event-numbers.md says more):
//
// - An event of an acknowledged change is committed, so it has its number already, or is seen here without one.
// - A change that was rolled back left no row.
// - Under the lock only one transaction numbers a client's events, and each begins where the last one committed. So an event
//   that is committed later gets a higher number.
// - Events about one user, session or contract are appended while their row is locked, so their ids say in which order. No
//   event is numbered while somebody holds an older one about the same person.

import { isDatabaseBusy } from '../../db/postgres/away.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { listUnnumberedClients, numberEvents } from '../../db/tables/events.ts';
import { limitLockWait } from '../../db/timeouts.ts';
import type { Dependencies } from '../ground/dependencies.ts';

// Takes some 20 milliseconds.
const batchSize = 1_000;

type Options = Parameters<typeof inTransaction>[3];

type Batch = Awaited<ReturnType<typeof numberEvents>>;

export const numberBatch = (db: Database, client: string, options?: Options): Promise<Batch> =>
  inTransaction(
    db,
    { by: 'service', cause: 'events' },
    (trx) => numberEvents(trx, client, batchSize),
    options,
  );

/**
 * Numbers a batch of one client's events, unless another transaction holds its numbers: the next run tries again, and no other
 * client waits.
 */
const numberUnlessBusy = (db: Database, client: string): Promise<Batch> =>
  inTransaction(db, { by: 'service', cause: 'events' }, async (trx) => {
    await limitLockWait(trx);
    return numberEvents(trx, client, batchSize);
  }).catch((error) => {
    if (isDatabaseBusy(error)) return { numbered: 0, hasMore: false };
    throw error;
  });

/**
 * Numbers the waiting events of every client, until none is left or `signal` aborts; also of clients that do not pull, or are
 * not configured any more. Any number of instances may do this at once.
 */
export async function numberAllEvents({ db }: Pick<Dependencies, 'db'>, signal?: AbortSignal): Promise<void> {
  for (const client of await listUnnumberedClients(db)) {
    for (let hasMore = true; hasMore && !signal?.aborted; )
      ({ hasMore } = await numberUnlessBusy(db, client));
  }
}

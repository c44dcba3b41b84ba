// The sequencer: gives events their numbers, after the commit and one at a time for each client.
//
// A number taken in the transaction that makes a change would leave a gap where that is rolled back, and appear behind a
// reader that has passed it where that commits late. So triggers append events without a number, and whoever wants to read
// gives them theirs first. Why nothing is lost or out of turn (docs/decisions/event-numbers.md says more):
//
// - What was acknowledged is committed, so it has its number already, or is seen here without one.
// - What was rolled back left no row.
// - Under the lock only one gives numbers for a client, and each begins where the last one committed. So whatever commits
//   later gets a higher number.
// - Events about one user, session or contract are appended while their row is locked, so their ids say in which order. None
//   is numbered while an older one about the same person is held by somebody.

import { isDatabaseBusy } from '../../db/postgres/away.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { listUnnumberedClients, numberEvents } from '../../db/tables/events.ts';
import { limitLockWait } from '../../db/timeouts.ts';
import type { Dependencies } from '../instance/dependencies.ts';

// Some 20 milliseconds.
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

/** Somebody who holds one client's numbers up keeps no other waiting: the next run tries again. */
const numberUnlessBusy = (db: Database, client: string): Promise<Batch> =>
  inTransaction(db, { by: 'service', cause: 'events' }, async (trx) => {
    await limitLockWait(trx);
    return numberEvents(trx, client, batchSize);
  }).catch((error) => {
    if (isDatabaseBusy(error)) return { numbered: 0, hasMore: false };
    throw error;
  });

/**
 * Numbers what waits, of every client, until none is left or `signal` aborts: also for clients that do not pull, or are not
 * configured any more. Any number of instances may do this at once.
 */
export async function numberAllEvents({ db }: Pick<Dependencies, 'db'>, signal?: AbortSignal): Promise<void> {
  for (const client of await listUnnumberedClients(db)) {
    for (let hasMore = true; hasMore && !signal?.aborted; )
      ({ hasMore } = await numberUnlessBusy(db, client));
  }
}

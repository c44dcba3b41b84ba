// Writes the words of people who are new or have changed, so that staff find them (contract 12.53).
import { inTransaction } from '../../db/postgres/transactions.ts';
import { hasPeopleToIndex, takePeopleToIndex, writePersonWords } from '../../db/tables/person-words.ts';
import { rest } from '../basics/rest.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { listWords } from './search-words.ts';

// A batch takes about 50 milliseconds. The process itself is busy for two or three milliseconds of that time.
const batchSize = 300;

/**
 * Writes the words of everybody in the queue, the newest first, until the queue is empty or `signal` aborts. If several
 * instances do this at the same time, one instance works, and all other instances return.
 */
export async function indexPeople({ db }: Pick<Dependencies, 'db'>, signal?: AbortSignal): Promise<void> {
  if (!(await hasPeopleToIndex(db))) return;
  while (!signal?.aborted) {
    const startedAt = performance.now();
    const hasMore = await inTransaction(db, { by: 'service', cause: 'people' }, async (trx) => {
      const taken = await takePeopleToIndex(trx, batchSize);
      if (!taken) return false;
      const indexed = taken.people.map(({ id, email, name, accountName, flags }) => ({
        id,
        words: listWords(`${name} ${accountName} ${email}`),
        flags,
      }));
      await writePersonWords(trx, indexed);
      return taken.hasMore;
    });
    if (!hasMore) return;
    // The pause gives requests their turn.
    await rest(performance.now() - startedAt, signal);
  }
}

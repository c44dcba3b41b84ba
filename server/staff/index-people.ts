// Writes the words of people who are new or have changed, so that staff find them (contract 12.53).
import { inTransaction } from '../../db/postgres/transactions.ts';
import { hasPeopleToIndex, takePeopleToIndex, writePersonWords } from '../../db/tables/person-words.ts';
import { rest } from '../basics/rest.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { listWords } from './search-words.ts';

// Takes some 50 milliseconds, of them two or three of this process.
const batchSize = 300;

/**
 * Writes the words of everybody in the queue, the newest first, until none is left or `signal` aborts. Any number of instances
 * may do this at once: one works, and the others leave it to that one.
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
    // Requests get their turn, however many people wait.
    await rest(performance.now() - startedAt, signal);
  }
}

// Adds the counts of this instance to the sums of hours (contract 12.100 to 12.105), every ten seconds and when it stops.
import { isUndone } from '../../../db/postgres/away.ts';
import { addToSums } from '../../../db/tables/sums-of-hours.ts';
import type { Dependencies } from '../../ground/dependencies.ts';

/**
 * If this fails, counts that were certainly not added are kept for the next time. All other counts are dropped, because they
 * may have been added.
 */
export async function addSums({
  db,
  metrics: { sums },
}: Pick<Dependencies, 'db' | 'metrics'>): Promise<void> {
  const taken = sums.take();
  if (taken.length === 0) return;
  let isSent = false;
  try {
    await db.connection().execute(async (connection) => {
      isSent = true;
      await addToSums(connection, taken);
    });
  } catch (error) {
    if (!isSent || isUndone(error)) sums.giveBack(taken);
    throw error;
  }
}

// The only writer of `documents_to_make`: the queue of documents without files.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export async function queueDocument(trx: Transaction<DB>, number: string, dueAt: Date): Promise<void> {
  await trx.insertInto('documents_to_make').values({ number, next_try_at: dueAt }).execute();
}

/** `tries` includes the current try. */
export type DocumentToMake = { number: string; tries: number; facts: unknown };

/**
 * Lends this worker the document whose files have waited longest to be made. If the worker dies, another worker gets the
 * document after `leaseSeconds`.
 */
export async function claimDocument(db: Database, leaseSeconds: number): Promise<DocumentToMake | undefined> {
  return db
    .with('due', (query) =>
      query
        .selectFrom('documents_to_make')
        .select('number')
        .where('next_try_at', '<=', sql<Date>`billing_now()`)
        .orderBy('next_try_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('documents_to_make as m')
    .from(['due', 'documents as d'])
    .set((eb) => ({ tries: eb('m.tries', '+', 1), next_try_at: secondsAhead(leaseSeconds) }))
    .whereRef('m.number', '=', 'due.number')
    .whereRef('d.number', '=', 'due.number')
    .returning(['m.number', 'm.tries', 'd.facts'])
    .executeTakeFirst();
}

export async function deleteDocumentToMake(trx: Transaction<DB>, number: string): Promise<void> {
  await trx.deleteFrom('documents_to_make').where('number', '=', number).execute();
}

export async function markNotMade(
  db: Database,
  number: string,
  { error, pauseSeconds }: { error: string; pauseSeconds: number },
): Promise<void> {
  await db
    .updateTable('documents_to_make')
    .set({ last_error: error, next_try_at: secondsAhead(pauseSeconds) })
    .where('number', '=', number)
    .execute();
}

const secondsAhead = (seconds: number) => sql<Date>`billing_now() + make_interval(secs => ${seconds})`;

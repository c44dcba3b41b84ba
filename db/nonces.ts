// The only writer of `nonces`: what a hand-off used up, so that no restart and no second instance takes it again.
import type { Database } from './client.ts';

/** One guarded statement: true for exactly one caller of each (audience, nonce), however many ask at once. */
export async function consumeNonce(
  db: Database,
  { audience, nonce, expiresAt }: { audience: string; nonce: string; expiresAt: Date },
): Promise<boolean> {
  const result = await db
    .insertInto('nonces')
    .values({ audience, nonce, expires_at: expiresAt })
    .onConflict((conflict) => conflict.constraint('nonces_pkey').doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Deletes at most `limit` nonces that no verifier would accept any more; how many there were. */
export async function sweepNonces(db: Database, expiredBefore: Date, limit: number): Promise<number> {
  const result = await db
    .deleteFrom('nonces')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('audience', 'nonce'),
        'in',
        selectFrom('nonces')
          .select(['audience', 'nonce'])
          .where('expires_at', '<', expiredBefore)
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('audience', 'nonce'),
      ),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

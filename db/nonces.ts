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

// The only writer of `nonces`: what a hand-off used up, so that no restart and no second instance takes it again.
import type { Database } from './client.ts';
import { prepare } from './prepared.ts';

type Nonce = { audience: string; nonce: string; expiresAt: Date };

const insert = prepare((db, { audience, nonce, expiresAt }: Nonce) =>
  db
    .insertInto('nonces')
    .values({ audience, nonce, expires_at: expiresAt })
    .onConflict((conflict) => conflict.constraint('nonces_pkey').doNothing()),
);

/** One guarded statement: true for exactly one caller of each (audience, nonce), however many ask at once. */
export async function consumeNonce(db: Database, nonce: Nonce): Promise<boolean> {
  return (await insert(db, nonce)).numAffectedRows === 1n;
}

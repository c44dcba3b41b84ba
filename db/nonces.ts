// The only writer of `nonces`: those of used hand-offs, so that no restart and no other instance accepts one again.
import type { Database } from './postgres/client.ts';
import { prepare } from './postgres/prepare.ts';

type Nonce = { audience: string; nonce: string; expiresAt: Date };

const insert = prepare((db, { audience, nonce, expiresAt }: Nonce) =>
  db
    .insertInto('nonces')
    .values({ audience, nonce, expires_at: expiresAt })
    .onConflict((conflict) => conflict.constraint('nonces_pkey').doNothing())
    .returning('nonce'),
);

/** One guarded statement: true for one caller of each (audience, nonce), however many ask at once. */
export async function consumeNonce(db: Database, nonce: Nonce): Promise<boolean> {
  return (await insert(db, nonce)).length === 1;
}

// The only writer of `nonces`: the nonces of used hand-offs. With them, no instance accepts a hand-off a second time.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare } from '../postgres/prepare.ts';
import { selectRestoreSince } from './restores.ts';

type Nonce = { audience: string; nonce: string; issuedAt: Date; expiresAt: Date };

const insert = prepare((db, { audience, nonce, issuedAt, expiresAt }: Nonce) =>
  db
    .insertInto('nonces')
    .columns(['audience', 'nonce', 'expires_at'])
    .expression(
      db
        .selectNoFrom([
          sql<string>`${audience}::text`.as('audience'),
          sql<string>`${nonce}::text`.as('nonce'),
          sql<Date>`${expiresAt}::timestamptz`.as('expires_at'),
        ])
        .where(({ not, exists }) => not(exists(selectRestoreSince(db, { issuedAt })))),
    )
    .onConflict((conflict) => conflict.constraint('nonces_pkey').doNothing())
    .returning('nonce'),
);

const findRestore = prepare(selectRestoreSince);

/**
 * Returns `fresh` for only one caller. Returns `before_restore` if a restore may have lost the record that the nonce was used.
 */
export async function consumeNonce(db: Database, nonce: Nonce): Promise<'fresh' | 'used' | 'before_restore'> {
  if ((await insert(db, nonce)).length === 1) return 'fresh';
  return (await findRestore(db, { issuedAt: nonce.issuedAt })).length > 0 ? 'before_restore' : 'used';
}

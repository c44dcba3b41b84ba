// The only writer of `passkey_challenge_keys`: one row, with the key that signs the challenges for passkeys.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';

const selectKey = prepareRead((db) => db.selectFrom('passkey_challenge_keys').select('key'));

export async function readChallengeKey(read: Reader): Promise<Uint8Array> {
  const [row] = await selectKey(read, {});
  if (!row) throw new Error('passkey_challenge_keys has no row');
  return new Uint8Array(row.key);
}

/** After this, earlier challenges no longer work. */
export async function renewChallengeKey(db: Database): Promise<void> {
  await db.updateTable('passkey_challenge_keys').set({ key: sql`default` }).execute();
}

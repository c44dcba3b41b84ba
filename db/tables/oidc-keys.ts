// The only writer of `oidc_keys`: the keys that sign ID tokens and logout tokens. Each issuer has its own.
import type { Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';

export type KeyRow = {
  kid: string;
  /** The private key, sealed. */
  sealed: Uint8Array;
  /** Identifies the key that sealed the private key. */
  keyId: string;
  /** The key signs from this instant until a later key starts to sign. */
  usedFrom: Date;
};

/** Returns the key with the latest `usedFrom` first. */
export async function listKeyRows(db: Database, issuer: string): Promise<KeyRow[]> {
  return db
    .selectFrom('oidc_keys')
    .select(['kid', 'sealed', 'key_id as keyId', 'used_from as usedFrom'])
    .where('issuer', '=', issuer)
    .orderBy('used_from', 'desc')
    .orderBy('kid')
    .execute();
}

export async function insertKey(
  trx: Transaction<DB>,
  issuer: string,
  { kid, sealed, keyId, usedFrom }: KeyRow,
): Promise<void> {
  const row = { kid, issuer, sealed, key_id: keyId, used_from: usedFrom };
  await trx.insertInto('oidc_keys').values(row).execute();
}

export async function deleteKeys(db: Database, kids: readonly string[]): Promise<void> {
  await db.deleteFrom('oidc_keys').where('kid', 'in', kids).execute();
}

export async function deleteAllKeys(db: Database): Promise<void> {
  await db.deleteFrom('oidc_keys').execute();
}

export async function replaceSealedKey(
  db: Database,
  { kid, sealed: was }: Pick<KeyRow, 'kid' | 'sealed'>,
  { sealed, keyId }: Pick<KeyRow, 'sealed' | 'keyId'>,
): Promise<void> {
  await db
    .updateTable('oidc_keys')
    .set({ sealed, key_id: keyId })
    .where('kid', '=', kid)
    .where('sealed', '=', was)
    .execute();
}

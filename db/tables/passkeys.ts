// The only writer of `passkeys`. A trigger sets `users.has_passkey`, and refuses a passkey if the user's address is not proved.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

export type Passkey = {
  id: string;
  userId: string;
  /** The authenticator's id, in base64url. */
  credentialId: string;
  /** The key in COSE format. */
  publicKey: Uint8Array<ArrayBuffer>;
  /** How often the passkey was used, by the authenticator's count. Always 0 if the authenticator does not count. */
  counter: number;
  transports: string[];
  /** Whether a password manager keeps the passkey and brings it to other devices. */
  backedUp: boolean;
  name: string;
};

type NewPasskey = Passkey & { fromEstablishedBrowser: boolean; now: Date };

/** Returns false if the credential is already registered. */
export async function insertPasskey(db: Database, passkey: NewPasskey): Promise<boolean> {
  const result = await db
    .insertInto('passkeys')
    .values({
      id: passkey.id,
      user_id: passkey.userId,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: passkey.transports,
      backed_up: passkey.backedUp,
      name: passkey.name,
      created_at: passkey.now,
      from_established_browser: passkey.fromEstablishedBrowser,
    })
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

export async function findPasskey(db: Database, credentialId: string): Promise<Passkey | undefined> {
  const row = await db
    .selectFrom('passkeys')
    .select(['id', 'user_id as userId', 'credential_id as credentialId', 'public_key as publicKey'])
    .select(['counter', 'transports', 'backed_up as backedUp', 'name'])
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
  return row && { ...row, publicKey: new Uint8Array(row.publicKey), counter: Number(row.counter) };
}

export type ListedPasskey = Pick<Passkey, 'id' | 'credentialId' | 'transports' | 'backedUp' | 'name'> & {
  createdAt: Date;
  fromEstablishedBrowser: boolean;
  lastUsedAt: Date | null;
};

export async function listPasskeys(db: Database, userId: string): Promise<ListedPasskey[]> {
  return db
    .selectFrom('passkeys')
    .select(['id', 'credential_id as credentialId', 'transports', 'backed_up as backedUp', 'name'])
    .select(['created_at as createdAt', 'last_used_at as lastUsedAt'])
    .select('from_established_browser as fromEstablishedBrowser')
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Returns false if the passkey is gone, or if its counter has not moved on, which is a sign of a copied authenticator. */
export async function recordPasskeyUse(
  db: Database,
  { id, counter, backedUp, now }: { id: string; counter: number; backedUp: boolean; now: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('passkeys')
    .set({ counter, backed_up: backedUp, last_used_at: now })
    .where('id', '=', id)
    .where(sql<boolean>`(counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0))`)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Returns false if the user has no such passkey. */
export async function renamePasskey(
  db: Database,
  { id, userId, name }: { id: string; userId: string; name: string },
): Promise<boolean> {
  const query = db.updateTable('passkeys').set({ name }).where('id', '=', id).where('user_id', '=', userId);
  return (await query.executeTakeFirst()).numUpdatedRows === 1n;
}

/** Returns false if the user has no such passkey. */
export async function deletePasskey(
  db: Database,
  { id, userId }: { id: string; userId: string },
): Promise<boolean> {
  const query = db.deleteFrom('passkeys').where('id', '=', id).where('user_id', '=', userId);
  return (await query.executeTakeFirst()).numDeletedRows === 1n;
}

export async function deletePasskeys(
  db: Database,
  userId: string,
  { since, keep }: { since?: Date | undefined; keep?: string | undefined } = {},
): Promise<number> {
  let query = db.deleteFrom('passkeys').where('user_id', '=', userId);
  if (since) query = query.where('created_at', '>=', since);
  if (keep) query = query.where('id', '<>', keep);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

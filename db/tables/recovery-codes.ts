// The only writer of `recovery_codes`: codes for logging in without the authenticator app. Only their hashes are stored.
import type { Database } from '../postgres/client.ts';

export async function replaceRecoveryCodes(
  db: Database,
  { userId, codeHashes, now }: { userId: string; codeHashes: Uint8Array[]; now: Date },
): Promise<void> {
  await deleteRecoveryCodes(db, userId);
  const rows = codeHashes.map((hash) => ({ user_id: userId, code_hash: hash, made_at: now }));
  await db.insertInto('recovery_codes').values(rows).execute();
}

/** Returns true for only one caller. Returns false if the code was made after `madeBy`. */
export async function consumeRecoveryCode(
  db: Database,
  { userId, codeHash, madeBy }: { userId: string; codeHash: Uint8Array; madeBy?: Date | undefined },
): Promise<boolean> {
  let query = db.deleteFrom('recovery_codes').where('user_id', '=', userId).where('code_hash', '=', codeHash);
  if (madeBy)
    query = query.where((row) => row.or([row('made_at', 'is', null), row('made_at', '<=', madeBy)]));
  return (await query.executeTakeFirst()).numDeletedRows === 1n;
}

export async function countRecoveryCodes(db: Database, userId: string): Promise<number> {
  const rows = await db
    .selectFrom('recovery_codes')
    .select('user_id')
    .where('user_id', '=', userId)
    .execute();
  return rows.length;
}

export async function deleteRecoveryCodes(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
}

// The only writer of `used_passkey_challenges`: challenges that were answered. With this table, no challenge works twice.
import type { Database } from '../postgres/client.ts';

/** Returns true for only one caller. */
export async function insertUsedChallenge(
  db: Database,
  { challengeHash, expiresAt }: { challengeHash: Uint8Array; expiresAt: Date },
): Promise<boolean> {
  const result = await db
    .insertInto('used_passkey_challenges')
    .values({ challenge_hash: challengeHash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.constraint('used_passkey_challenges_pkey').doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

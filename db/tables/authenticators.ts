// The only writer of `authenticators`: the encrypted secret that a user's authenticator app shares with us.
import type { Database } from '../postgres/client.ts';

export type Authenticator = {
  sealedSecret: Uint8Array;
  /** The time step of the last accepted code. */
  lastStep: number;
  addedAt: Date;
  fromEstablishedBrowser: boolean;
  lastUsedAt: Date;
};

export async function findAuthenticator(db: Database, userId: string): Promise<Authenticator | undefined> {
  return db
    .selectFrom('authenticators')
    .select([
      'sealed_secret as sealedSecret',
      'last_step as lastStep',
      'added_at as addedAt',
      'from_established_browser as fromEstablishedBrowser',
      'last_used_at as lastUsedAt',
    ])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** A trigger maintains `users.has_authenticator`. */
export async function insertAuthenticator(
  db: Database,
  added: {
    userId: string;
    sealedSecret: Uint8Array;
    step: number;
    fromEstablishedBrowser: boolean;
    now: Date;
  },
): Promise<void> {
  await db
    .insertInto('authenticators')
    .values({
      user_id: added.userId,
      sealed_secret: added.sealedSecret,
      last_step: added.step,
      added_at: added.now,
      last_used_at: added.now,
      from_established_browser: added.fromEstablishedBrowser,
    })
    .execute();
}

/**
 * If several callers have a code of that step, returns true for only one of them. Returns false for a code of an earlier step.
 */
export async function consumeStep(
  db: Database,
  use: { userId: string; step: number; sealedSecret: Uint8Array; now: Date },
): Promise<boolean> {
  const result = await db
    .updateTable('authenticators')
    .set({ last_step: use.step, last_used_at: use.now, sealed_secret: use.sealedSecret })
    .where('user_id', '=', use.userId)
    .where('last_step', '<', use.step)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Returns false if there was no authenticator app, or if it was added before `since`. */
export async function deleteAuthenticator(db: Database, userId: string, since?: Date): Promise<boolean> {
  let query = db.deleteFrom('authenticators').where('user_id', '=', userId);
  if (since) query = query.where('added_at', '>=', since);
  return (await query.executeTakeFirst()).numDeletedRows === 1n;
}

// The only writer of `refused_forms`: forms that were refused, and are too long for the cookie that keeps others. The browser has
// the id of its form in that cookie, sealed.
import type { Database } from '../postgres/client.ts';

export type KeptForm = { id: string; userId: string; sealed: Uint8Array; expiresAt: Date };

/** Adds a form, and deletes what its user has beyond the newest `max`, with this one. */
export async function insertRefusedForm(
  db: Database,
  { id, userId, sealed, expiresAt }: KeptForm,
  max: number,
): Promise<void> {
  await db
    .with('old', (cte) =>
      cte.deleteFrom('refused_forms').where('id', 'in', (rows) =>
        rows
          .selectFrom('refused_forms')
          .select('id')
          .where('user_id', '=', userId)
          .orderBy('expires_at', 'desc')
          .offset(max - 1),
      ),
    )
    .insertInto('refused_forms')
    .values({ id, user_id: userId, sealed, expires_at: expiresAt })
    .execute();
}

/** What is sealed of the user's form, unless it has expired. */
export async function findRefusedForm(
  db: Database,
  { id, userId, now }: { id: string; userId: string; now: Date },
): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('refused_forms')
    .select('sealed')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row?.sealed;
}

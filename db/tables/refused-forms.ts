// The only writer of `refused_forms`: refused forms that are too long for a cookie. The cookie has the sealed id of the form.
import type { Database } from '../postgres/client.ts';

export type KeptForm = { id: string; userId: string; sealed: Uint8Array; expiresAt: Date };

/** Keeps only the newest `max` forms of the user. */
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

/** Returns the sealed form. Returns undefined if the form has expired. */
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

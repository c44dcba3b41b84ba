// The only writer of `form_answers`: the answers to forms that work only one time. There is one row for each browser's cookie,
// and the cookie changes with each page. `sealed` is null while the first request is under way.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

type Key = { browserHash: Uint8Array; formHash: Uint8Array };

/** Returns true only for the first caller with this form. The form replaces the browser's earlier form. */
export async function claimForm(
  db: Database,
  { browserHash, formHash, now, expiresAt }: Key & { now: Date; expiresAt: Date },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into form_answers (browser_hash, form_hash, expires_at) values (${browserHash}, ${formHash}, ${expiresAt})
    on conflict on constraint form_answers_pkey do update
      set form_hash = excluded.form_hash, sealed = null, expires_at = excluded.expires_at
      where form_answers.form_hash <> excluded.form_hash or form_answers.expires_at <= ${now}`.execute(db);
  return numAffectedRows === 1n;
}

export const findFormAnswer = (
  db: Database,
  { browserHash, formHash, now }: Key & { now: Date },
): Promise<{ sealed: Uint8Array | null } | undefined> =>
  db
    .selectFrom('form_answers')
    .select('sealed')
    .where('browser_hash', '=', browserHash)
    .where('form_hash', '=', formHash)
    .where('expires_at', '>', now)
    .executeTakeFirst();

/** Does nothing if the browser has sent another form since the claim. */
export async function keepFormAnswer(
  db: Database,
  { browserHash, formHash, sealed, expiresAt }: Key & { sealed: Uint8Array; expiresAt: Date },
): Promise<void> {
  await db
    .updateTable('form_answers')
    .set({ sealed, expires_at: expiresAt })
    .where('browser_hash', '=', browserHash)
    .where('form_hash', '=', formHash)
    .execute();
}

/** Without `formHash`, deletes the answer to any form of the browser. */
export async function dropFormAnswer(
  db: Database,
  { browserHash, formHash }: Pick<Key, 'browserHash'> & Partial<Key>,
): Promise<void> {
  await db
    .deleteFrom('form_answers')
    .where('browser_hash', '=', browserHash)
    .$if(formHash !== undefined, (query) => query.where('form_hash', '=', formHash ?? new Uint8Array()))
    .execute();
}

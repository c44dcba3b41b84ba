import { type Kysely, sql } from 'kysely';

// "Link" meant three things. A link now ties a user to a marketplace id; what a mail carries is a token, and
// what waits for a login is a hand-off. `pending_links.return_to` was never read.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table pending_links drop column return_to`.execute(db);
  await rename(db, 'pending_links', 'pending_hand_offs');
  await rename(db, 'mail_links', 'mail_tokens');
}

/** Constraints and indexes begin with the name of their table. */
async function rename(db: Kysely<unknown>, from: string, to: string): Promise<void> {
  await sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(db);
  for (const constraint of ['pkey', 'token_hash_length', 'user_id_fkey']) {
    const [old, fresh] = [sql.ref(`${from}_${constraint}`), sql.ref(`${to}_${constraint}`)];
    await sql`alter table ${sql.table(to)} rename constraint ${old} to ${fresh}`.execute(db);
  }
  for (const index of ['user_id_idx', 'expires_at_idx']) {
    await sql`alter index ${sql.ref(`${from}_${index}`)} rename to ${sql.ref(`${to}_${index}`)}`.execute(db);
  }
}

import { type Kysely, sql } from 'kysely';

// What people read about their own account: with which kind of browser something was done, and from roughly where, if
// the operator's proxy knows. And the HTML of the mails that local mode keeps.
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions add column place text`.execute(db);
  await sql`alter table audit_events add column device text, add column place text`.execute(db);
  await sql`alter table mails add column kept_html text`.execute(db);
}

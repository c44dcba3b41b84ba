import { type Kysely, sql } from 'kysely';

// Which browsers of a user are established (contract section 2), and which factors were added in one.
export async function up(db: Kysely<unknown>): Promise<void> {
  // When the account got its first credential in this browser: the same as `known_since`, which begins anew once the
  // browser is forgotten. So the version before, which does not know this column, makes no browser established.
  await sql`alter table devices add column first_credential_at timestamptz`.execute(db);
  // Where it is not known, as for those from before and those that the version before adds, it was.
  for (const table of ['passkeys', 'authenticators'])
    await sql`
      alter table ${sql.table(table)}
        add column from_established_browser boolean not null default true`.execute(db);
}

import { type Kysely, sql } from 'kysely';

// What tables and functions cannot say by themselves, for whoever reads db/schema.sql.
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [what, words] of Object.entries(comments))
    await sql`comment on ${sql.raw(what)} is ${sql.lit(words)}`.execute(db);
}

const comments = {
  'column accounts.capabilities':
    'What counts: what the links of its users say and what was granted here, without what was revoked here (join_capabilities). Triggers work it out, whoever writes it.',
  'column accounts.granted_here': 'Decided here: by an operator or by SQL. Null: nothing was.',
  'column accounts.revoked_here': 'As granted_here.',
  'column accounts.verified_here': 'Null: not decided here, so verified_at follows the links.',
  'column accounts.sources_known':
    'False: not written to since rights have two sources. Whose its rights are is worked out from the history then (find_decided_before).',
  'column external_links.capabilities':
    'What the marketplace said last. Null: nothing since rights have two sources.',
  'column external_links.said_at':
    '-infinity: the version before applied a profile, and wrote what it says to the account alone. settle_rights takes it from there.',
  'function settle_rights(uuid)':
    'Makes the rights of an account the sum of both sources. Called at the end of a transaction that changed its links.',
  'column changes.kind': 'found: what a row held at the first change after the history began.',
  'table erased_users': 'Written by the service when it erases a user. No user gets one of these ids again.',
  'table launches': 'They are kept longer than the sessions, so session_id refers to none.',
};

// The names that mails may greet their readers by.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/**
 * By the mail's id: the name of its user, if the recipient is their present address and proved, and neither name nor proof
 * has changed since that time. A name that came before the proof may be a stranger's, and one that is new may be a thief's.
 */
export async function findSettledNames(
  db: Database,
  { mailIds, since }: { mailIds: string[]; since: Date },
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select m.id, u.name from mails m
    join users u on u.id = m.user_id and u.email = m.recipient
    where m.id = any(${mailIds}::uuid[]) and u.holds_email and u.email_verified_at is not null
      and not exists (
        select from changes c
        where c.subject = 'user' and c.row_id = u.id::text and c.at > ${since} and c.kind = 'changed'
          and (c.members ? 'name' or c.members ? 'email_verified_at'))`.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

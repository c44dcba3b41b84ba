// Finds the names by which mails may greet their readers. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

/**
 * Returns names by mail id. A mail has a name only if its recipient is the user's proved address, and neither the name nor the
 * proof has changed since `since`. Otherwise the name may come from a stranger before the proof, or from a thief after it.
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

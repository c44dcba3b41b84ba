// Finds by which names mails may greet their readers, and the time zones of the readers. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';

export type MailReader = { id: string; name: string | null; timeZone: string | null };

/**
 * Returns the readers of the mails that go to the address that their user holds, each with the id of the mail. A reader has a name
 * only if the address is proved, and if neither the name nor the proof has changed since `since`. Otherwise the name may come from
 * a stranger before the proof, or from a thief after it.
 */
export async function findMailReaders(
  db: Database,
  { mailIds, since }: { mailIds: string[]; since: Date },
): Promise<MailReader[]> {
  const { rows } = await sql<MailReader>`
    select m.id, u.time_zone as "timeZone", case when u.email_verified_at is not null and not exists (
        select from changes c
        where c.subject = 'user' and c.row_id = u.id::text and c.at > ${since} and c.kind = 'changed'
          and (c.members ? 'name' or c.members ? 'email_verified_at')) then u.name end as name
    from mails m join users u on u.id = m.user_id and u.email = m.recipient
    where m.id = any(${mailIds}::uuid[]) and u.holds_email`.execute(db);
  return rows;
}

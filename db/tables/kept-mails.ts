// Reads the mails that local mode keeps. This file only reads.
import type { Database } from '../postgres/client.ts';

export type KeptMail = { id: string; recipient: string; subject: string; text: string; sentAt: Date };

export async function listKeptMails(db: Database): Promise<KeptMail[]> {
  const rows = await db
    .selectFrom('mails')
    .select(['id', 'recipient', 'kept_subject as subject', 'kept_text as text', 'sent_at as sentAt'])
    .where('kept_text', 'is not', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(50)
    .execute();
  return rows as KeptMail[];
}

export async function findKeptHtml(db: Database, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('mails').select('kept_html').where('id', '=', id).executeTakeFirst();
  return row?.kept_html ?? undefined;
}

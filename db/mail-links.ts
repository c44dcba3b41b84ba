// The only writer of `mail_links`: one-time links in mails, known here by the SHA-256 of their token only.
import type { Database } from './client.ts';

export type LinkPurpose = 'set_password' | 'verify_email';
export type MailLink = { userId: string; email: string };

type LinkKey = { tokenHash: Uint8Array; purpose: LinkPurpose; now: Date };

export async function insertMailLink(
  db: Database,
  link: MailLink & { tokenHash: Uint8Array; purpose: LinkPurpose; expiresAt: Date },
): Promise<void> {
  await db
    .insertInto('mail_links')
    .values({
      token_hash: link.tokenHash,
      purpose: link.purpose,
      user_id: link.userId,
      email: link.email,
      expires_at: link.expiresAt,
    })
    .execute();
}

/** Only while the user still has the address that the mail went to. */
export async function findMailLink(
  db: Database,
  { tokenHash, purpose, now }: LinkKey,
): Promise<MailLink | undefined> {
  return db
    .selectFrom('mail_links as l')
    .innerJoin('users as u', (join) => join.onRef('u.id', '=', 'l.user_id').onRef('u.email', '=', 'l.email'))
    .select(['l.user_id as userId', 'l.email'])
    .where('l.token_hash', '=', tokenHash)
    .where('l.purpose', '=', purpose)
    .where('l.expires_at', '>', now)
    .executeTakeFirst();
}

/** One guarded statement: true for exactly one caller, in time. */
export async function consumeMailLink(
  db: Database,
  { tokenHash, purpose, now, userId, email }: LinkKey & MailLink,
): Promise<boolean> {
  const result = await db
    .deleteFrom('mail_links')
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Other links of the user, such as those of an earlier mail. */
export async function deleteMailLinks(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('mail_links').where('user_id', '=', userId).execute();
}

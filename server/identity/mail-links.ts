// One-time links in mails: 256 random bits of which the database knows the SHA-256, good for one purpose, for
// one user, for as long as that user has the address that the mail went to, for seven days.
import type { Database } from '../../db/client.ts';
import { findMailLink, insertMailLink, type LinkPurpose, type MailLink } from '../../db/mail-links.ts';
import { createToken, hashToken } from './tokens.ts';

export const linkLifeDays = 7;

/** The token, in the only place that it ever appears in. */
export async function createMailLink(
  db: Database,
  purpose: LinkPurpose,
  { userId, email }: MailLink,
  now: Date,
): Promise<string> {
  const token = createToken();
  const expiresAt = new Date(now.getTime() + linkLifeDays * 24 * 60 * 60 * 1_000);
  await insertMailLink(db, { tokenHash: hashToken(token), purpose, userId, email, expiresAt });
  return token;
}

/** The key of a link, and whom it is about; undefined for one that does not work (any more). Nothing is used up. */
export async function openMailLink(db: Database, purpose: LinkPurpose, token: string, now: Date) {
  const key = { tokenHash: hashToken(token), purpose, now };
  const link = await findMailLink(db, key);
  return link && { ...key, ...link };
}

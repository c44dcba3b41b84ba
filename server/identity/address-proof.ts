// Mail tokens: the secrets in the links of our mails. 256 random bits, of which the database stores the SHA-256. A
// token has one purpose, and works once, within seven days, while its user still has the address that the mail went to.

import {
  findMailToken,
  insertMailToken,
  type MailToken,
  type MailTokenPurpose,
} from '../../db/mail-tokens.ts';
import type { Database } from '../../db/postgres/client.ts';
import { createToken, hashToken } from './tokens.ts';

export const mailTokenLifeDays = 7;

/** The result is the only copy of the token. */
export async function createMailToken(
  db: Database,
  purpose: MailTokenPurpose,
  { userId, email }: MailToken,
  now: Date,
): Promise<string> {
  const token = createToken();
  const expiresAt = new Date(now.getTime() + mailTokenLifeDays * 24 * 60 * 60 * 1_000);
  await insertMailToken(db, { tokenHash: hashToken(token), purpose, userId, email, expiresAt });
  return token;
}

/** Whom the token is for, with what `consumeMailToken` needs, or undefined if it does not work. Uses nothing up. */
export async function openMailToken(db: Database, purpose: MailTokenPurpose, token: string, now: Date) {
  const key = { tokenHash: hashToken(token), purpose, now };
  const found = await findMailToken(db, key);
  return found && { ...key, ...found };
}

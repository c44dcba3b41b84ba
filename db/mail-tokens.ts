// The only writer of `mail_tokens`: the secrets in the links of our mails, stored as their SHA-256.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';

export type MailTokenPurpose = 'set_password' | 'verify_email';
export type MailToken = { userId: string; email: string };

type MailTokenKey = { tokenHash: Uint8Array; purpose: MailTokenPurpose; now: Date };

/** For a mail that is still to be sent; false where it is gone. */
export async function insertMailToken(
  db: Database,
  token: MailToken & { tokenHash: Uint8Array; mailId: string; purpose: MailTokenPurpose; expiresAt: Date },
): Promise<boolean> {
  const result = await db
    .insertInto('mail_tokens')
    .columns(['token_hash', 'purpose', 'user_id', 'email', 'expires_at'])
    .expression((query) =>
      query
        .selectFrom('mails')
        .select([
          sql<Uint8Array>`${token.tokenHash}::bytea`.as('token_hash'),
          sql<string>`${token.purpose}`.as('purpose'),
          'user_id',
          'recipient as email',
          sql<Date>`${token.expiresAt}::timestamptz`.as('expires_at'),
        ])
        .where('id', '=', token.mailId)
        .forUpdate(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** With the user's name. Undefined once the user has another address than the mail went to. */
export async function findMailToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<(MailToken & { name: string }) | undefined> {
  return db
    .selectFrom('mail_tokens as t')
    .innerJoin('users as u', (join) => join.onRef('u.id', '=', 't.user_id').onRef('u.email', '=', 't.email'))
    .select(['t.user_id as userId', 't.email', 'u.name'])
    .where('t.token_hash', '=', tokenHash)
    .where('t.purpose', '=', purpose)
    .where('t.expires_at', '>', now)
    .executeTakeFirst();
}

/** True for exactly one caller, before the token expires. */
export async function consumeMailToken(
  db: Database,
  { tokenHash, purpose, now, userId, email }: MailTokenKey & MailToken,
): Promise<boolean> {
  const result = await db
    .deleteFrom('mail_tokens')
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Of everybody. The result is how many. */
export async function deleteAllMailTokens(db: Database): Promise<number> {
  return Number((await db.deleteFrom('mail_tokens').executeTakeFirst()).numDeletedRows);
}

/** All of the user's, such as those of earlier mails. */
export async function deleteMailTokens(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('mail_tokens').where('user_id', '=', userId).execute();
}

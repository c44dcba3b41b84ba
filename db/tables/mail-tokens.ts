// The only writer of `mail_tokens`: the secrets in the links of our mails, stored as their SHA-256.

import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';

export type MailTokenPurpose =
  | 'set_password'
  | 'verify_email'
  | 'sign_up'
  | 'change_email'
  /** A take-back link. Nothing but its use, time and an erasure ends it. */
  | 'undo_email_change';
export type MailToken = { userId: string; email: string };

type MailTokenKey = { tokenHash: Uint8Array; purpose: MailTokenPurpose; now: Date };

/** Adds a token for a mail that is still to be sent; false if the mail is gone. */
export async function insertMailToken(
  db: Database,
  token: { tokenHash: Uint8Array; mailId: string; purpose: MailTokenPurpose; expiresAt: Date },
): Promise<boolean> {
  const result = await db
    .insertInto('mail_tokens')
    .columns(['token_hash', 'purpose', 'user_id', 'email', 'expires_at', 'name'])
    .expression((query) =>
      query
        .selectFrom('mails')
        .select([
          sql<Uint8Array>`${token.tokenHash}::bytea`.as('token_hash'),
          sql<string>`${token.purpose}`.as('purpose'),
          'user_id',
          'recipient as email',
          sql<Date>`${token.expiresAt}::timestamptz`.as('expires_at'),
          sql<string | null>`details ->> 'name'`.as('name'),
        ])
        .where('id', '=', token.mailId)
        .forUpdate(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/**
 * Adds the token of a take-back link, which ends with the row of the change that its mail tells of; false if the mail is gone.
 */
export async function insertTakeBackToken(
  db: Database,
  { tokenHash, mailId }: { tokenHash: Uint8Array; mailId: string },
): Promise<boolean> {
  const result = await db
    .insertInto('mail_tokens')
    .columns(['token_hash', 'purpose', 'user_id', 'email', 'expires_at', 'change_id'])
    .expression((query) =>
      query
        .selectFrom('mails as m')
        .innerJoin('take_back_changes as c', (join) =>
          join
            .onRef('c.user_id', '=', 'm.user_id')
            .onRef('c.email', '=', 'm.recipient')
            .on(
              // The version before names no change.
              sql<boolean>`case when m.details ? 'change' then c.id::text = m.details ->> 'change'
              else c.what = 'email_changed' and m.kind = 'email_changed'
                and c.expires_at >= (m.details ->> 'until')::timestamptz end`,
            ),
        )
        .select([
          sql<Uint8Array>`${tokenHash}::bytea`.as('token_hash'),
          sql<string>`'undo_email_change'`.as('purpose'),
          'c.user_id',
          'c.email',
          'c.expires_at',
          'c.id as change_id',
        ])
        .where('m.id', '=', mailId)
        .orderBy('c.at', 'desc')
        .limit(1)
        .forUpdate(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** The token's user, with their name. Undefined once the user has another address than the one the mail went to. */
export async function findMailToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<(MailToken & { name: string }) | undefined> {
  return db
    .selectFrom('mail_tokens as t')
    .innerJoin('users as u', (join) => join.onRef('u.id', '=', 't.user_id').onRef('u.email', '=', 't.email'))
    .select(['u.id as userId', 't.email', 'u.name'])
    .where('t.token_hash', '=', tokenHash)
    .where('t.purpose', '=', purpose)
    .where('t.expires_at', '>', now)
    .executeTakeFirst();
}

/** The address and the name that were typed at a sign-up; its user is yet to be made. */
export async function findSignUpToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<{ userId: null; email: string; name: string; expiresAt: Date } | undefined> {
  const row = await db
    .selectFrom('mail_tokens')
    .select(['email', 'name', 'expires_at as expiresAt'])
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row && { ...row, userId: null, name: row.name ?? '' };
}

/** A take-back link: its user, the mailbox that it went to, and the change that the mailbox was told of. */
export async function findTakeBackToken(
  db: Database,
  { tokenHash, now }: Pick<MailTokenKey, 'tokenHash' | 'now'>,
): Promise<(MailToken & { changeId: string }) | undefined> {
  return db
    .selectFrom('mail_tokens')
    .select(['email', sql<string>`user_id`.as('userId'), sql<string>`change_id`.as('changeId')])
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', 'undo_email_change')
    .where('change_id', 'is not', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** The token of a change of address: `email` is the new address, which the user does not have yet. */
export async function findAddressToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<(MailToken & { name: string; presentEmail: string }) | undefined> {
  return db
    .selectFrom('mail_tokens as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select(['u.id as userId', 't.email', 'u.name', 'u.email as presentEmail'])
    .where('t.token_hash', '=', tokenHash)
    .where('t.purpose', '=', purpose)
    .where('t.expires_at', '>', now)
    .executeTakeFirst();
}

/** True for exactly one caller, before the token expires. */
export async function consumeMailToken(
  db: Database,
  { tokenHash, purpose, now, userId, email }: MailTokenKey & { userId: string | null; email: string },
): Promise<boolean> {
  const result = await db
    .deleteFrom('mail_tokens')
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where('expires_at', '>', now)
    .where('user_id', 'is not distinct from', userId)
    .where('email', '=', email)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes the tokens of everybody, but not those of take-back links. The result is how many. */
export async function deleteAllMailTokens(db: Database): Promise<number> {
  const query = db.deleteFrom('mail_tokens').where('purpose', '<>', 'undo_email_change');
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

const deleteOf = prepareDeferred(
  (db, { userId, purpose }: { userId: string; purpose: MailTokenPurpose | null }) =>
    db
      .deleteFrom('mail_tokens')
      .where('user_id', '=', userId)
      .where('purpose', '<>', 'undo_email_change')
      .where(sql<boolean>`purpose = coalesce(${purpose}, purpose)`),
);

/** Ends all tokens of the user, such as those of earlier mails, or those of one purpose; never take-back links. */
export function deferEndOfMailTokens(
  trx: Transaction<DB>,
  userId: string,
  purpose: MailTokenPurpose | null = null,
): void {
  deleteOf(trx, { userId, purpose });
}

/**
 * Gives the user the tokens of sign-ups with that address, from before the user had it; but not a token that is in use at this
 * moment.
 */
export async function assignSignUpTokens(
  db: Database,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  await db
    .updateTable('mail_tokens')
    .set({ user_id: userId })
    .where('token_hash', 'in', (query) =>
      query
        .selectFrom('mail_tokens')
        .select('token_hash')
        .where('purpose', '=', 'sign_up')
        .where('email', '=', email)
        .where('user_id', 'is', null)
        .forUpdate()
        // The request that uses the token waits to hear whether this user is made.
        .skipLocked(),
    )
    .execute();
}

/** Deletes the tokens of mails that went to these addresses because somebody typed them: sign-ups, and changes of address. */
export async function deleteTokensToTyped(db: Database, emails: string[]): Promise<void> {
  await db
    .deleteFrom('mail_tokens')
    .where(sql<boolean>`email = any(${emails})`)
    .where('purpose', 'in', ['sign_up', 'change_email'])
    .execute();
}

// The only writer of `mail_tokens`: the secrets in the links of our mails, as SHA-256. The row of an ended link stays for a
// while, so that we can say why the link ended (contract 9.203). So a statement that looks for a working link must ask for
// `isOpen`.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import type { InvitedRole } from './staff-invitations.ts';

export type MailTokenPurpose =
  | 'set_password'
  | 'verify_email'
  | 'sign_up'
  /** An invitation to the staff. The link works while the invitation is open (staff-invitations.ts). */
  | 'invitation'
  | 'change_email'
  /** These two links work while the new address is on offer (new-addresses.ts). */
  | 'new_address'
  | 'stop_new_address'
  /** Proves an address for invoices. The link keeps working after a new password or a change of the user's own address. */
  | 'invoice_email'
  /** A take-back link. Only its use, its expiry or an erasure ends it. */
  | 'undo_email_change';
export type MailToken = { userId: string; email: string };

export type MailTokenEnd =
  | 'used'
  | 'newer_link'
  | 'password_set'
  | 'passkey_added'
  | 'address_changed'
  | 'taken_back'
  | 'canceled'
  | 'withdrawn';

type MailTokenKey = { tokenHash: Uint8Array; purpose: MailTokenPurpose; now: Date };

const isOpen = (now: Date) => sql<boolean>`ended is null and expires_at > ${now}`;

/** Clears `change_id`. Otherwise the token of a take-back link would be deleted when its change is deleted. */
const endBy = (ended: MailTokenEnd | ReturnType<typeof sql<MailTokenEnd>>) => ({
  ended,
  expires_at: sql<Date>`least(expires_at, now())`,
  change_id: null,
});

/** Adds the token of a mail that is about to be sent. Returns false if the mail is gone. */
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
 * Adds the token of a link to set a password, which is part of a mail about something else. Returns false if the user has a way
 * to log in already, may not log in, or does not hold `email`. The lock makes sure that the link does not outlive a password that
 * is being set now.
 */
export async function insertPasswordToken(
  db: Database,
  token: { tokenHash: Uint8Array; mailId: string; email: string; expiresAt: Date },
): Promise<boolean> {
  const result = await sql`
    insert into mail_tokens (token_hash, purpose, user_id, email, expires_at)
    select ${token.tokenHash}, 'set_password', u.id, u.email, ${token.expiresAt}
    from mails m join users u on u.id = m.user_id
    where m.id = ${token.mailId} and u.email = ${token.email} and u.holds_email
      and u.password_hash is null and not u.has_passkey and u.suspended_at is null
      and not exists (select from external_links where user_id = u.id)
    for share of u`.execute(db);
  return result.numAffectedRows === 1n;
}

/** Adds the token of a link that is not sent by mail. */
export async function insertHandedToken(
  trx: Transaction<DB>,
  token: { tokenHash: Uint8Array; purpose: MailTokenPurpose; userId: string; email: string; expiresAt: Date },
): Promise<void> {
  await trx
    .insertInto('mail_tokens')
    .values({
      token_hash: token.tokenHash,
      purpose: token.purpose,
      user_id: token.userId,
      email: token.email,
      expires_at: token.expiresAt,
    })
    .execute();
}

/**
 * Adds the token of a mail about a change. The token ends when the row of that change is deleted. Returns false if the mail is
 * gone.
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
            .on(sql<boolean>`c.id::text = m.details ->> 'change'`),
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
        .forUpdate(),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/**
 * Adds a token that works while the new address is on offer. Returns false if the mail is gone, or the new address is no longer
 * on offer.
 */
export async function insertNewAddressToken(
  db: Database,
  token: { tokenHash: Uint8Array; mailId: string; purpose: MailTokenPurpose },
): Promise<boolean> {
  const result = await db
    .insertInto('mail_tokens')
    .columns(['token_hash', 'purpose', 'user_id', 'email', 'expires_at'])
    .expression((query) =>
      query
        .selectFrom('mails as m')
        .innerJoin('new_addresses as n', 'n.user_id', 'm.user_id')
        .select([
          sql<Uint8Array>`${token.tokenHash}::bytea`.as('token_hash'),
          sql<string>`${token.purpose}`.as('purpose'),
          'm.user_id',
          'm.recipient as email',
          'n.expires_at',
        ])
        .where('m.id', '=', token.mailId)
        .forUpdate('m'),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Adds a token that ends with the invitation. Returns false if the mail is gone, or the invitation is no longer open. */
export async function insertInvitationToken(
  db: Database,
  token: { tokenHash: Uint8Array; mailId: string },
): Promise<boolean> {
  const result = await db
    .insertInto('mail_tokens')
    .columns(['token_hash', 'purpose', 'email', 'expires_at'])
    .expression((query) =>
      query
        .selectFrom('mails as m')
        .innerJoin('staff_invitations as i', (join) =>
          join
            .onRef('i.email', '=', 'm.recipient')
            .on(sql<boolean>`i.id::text = m.details ->> 'invitation'`)
            .on('i.taken_by', 'is', null),
        )
        .select([
          sql<Uint8Array>`${token.tokenHash}::bytea`.as('token_hash'),
          sql<string>`'invitation'`.as('purpose'),
          'm.recipient as email',
          'i.expires_at',
        ])
        .where('m.id', '=', token.mailId)
        .forUpdate('m'),
    )
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Returns undefined if the mail went to an address that is no longer the user's. */
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
    .where(isOpen(now))
    .executeTakeFirst();
}

/** Returns the address and the name that were typed at a sign-up. There is no user yet. */
export async function findSignUpToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<{ userId: null; email: string; name: string; expiresAt: Date } | undefined> {
  const row = await db
    .selectFrom('mail_tokens')
    .select(['email', 'name', 'expires_at as expiresAt'])
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where(isOpen(now))
    .executeTakeFirst();
  return row && { ...row, userId: null, name: row.name ?? '' };
}

/**
 * Returns undefined if the invitation is no longer open, or if its link has made a user. The invited person is not a user yet.
 */
export async function findInvitationToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<
  | {
      userId: null;
      email: string;
      name: string;
      expiresAt: Date;
      invitation: { id: string; role: InvitedRole };
    }
  | undefined
> {
  const row = await db
    .selectFrom('mail_tokens as t')
    .innerJoin('staff_invitations as i', 'i.email', 't.email')
    .select(['t.email', 't.expires_at as expiresAt', 'i.id', sql<InvitedRole>`i.role`.as('role')])
    .where('t.token_hash', '=', tokenHash)
    .where('t.purpose', '=', purpose)
    .where('i.taken_by', 'is', null)
    .where(sql<boolean>`t.ended is null and t.expires_at > ${now} and i.expires_at > ${now}`)
    .executeTakeFirst();
  if (!row) return undefined;
  const { id, role, ...token } = row;
  return { ...token, userId: null, name: '', invitation: { id, role } };
}

/** `email` is the mailbox that the mail about the change went to. */
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
    .where(isOpen(now))
    .executeTakeFirst();
}

/** The caller must check that the new address is still on offer. */
export async function findNewAddressToken(
  db: Database,
  { tokenHash, purpose, now }: MailTokenKey,
): Promise<MailToken | undefined> {
  return db
    .selectFrom('mail_tokens')
    .select(['email', sql<string>`user_id`.as('userId')])
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where(isOpen(now))
    .executeTakeFirst();
}

/** Finds the token of a change of address. `email` is the new address, which the user does not have yet. */
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
    .where(isOpen(now))
    .executeTakeFirst();
}

/** Returns true for only one caller. */
export async function consumeMailToken(
  db: Database,
  { tokenHash, purpose, now, userId, email }: MailTokenKey & { userId: string | null; email: string },
): Promise<boolean> {
  const result = await db
    .updateTable('mail_tokens')
    .set(endBy('used'))
    .where('token_hash', '=', tokenHash)
    .where('purpose', '=', purpose)
    .where(isOpen(now))
    .where('user_id', 'is not distinct from', userId)
    .where('email', '=', email)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * Ends all links except take-back links, and returns how many it ended. A link that expired in the last ten minutes is
 * included, because it may still work on an instance with a slow clock.
 */
export async function withdrawAllMailTokens(db: Database): Promise<number> {
  const query = db
    .updateTable('mail_tokens')
    .set(endBy('withdrawn'))
    .where('purpose', '<>', 'undo_email_change')
    .where(sql<boolean>`ended is null and expires_at > now() - interval '10 minutes'`);
  return Number((await query.executeTakeFirst()).numUpdatedRows);
}

type EndOfLinks = { userId: string; purpose: MailTokenPurpose | null; by: MailTokenEnd };

const endOf = prepareDeferred((db, { userId, purpose, by }: EndOfLinks) =>
  db
    .updateTable('mail_tokens')
    .set(endBy(sql<MailTokenEnd>`${by}`))
    .where('user_id', '=', userId)
    .where('ended', 'is', null)
    .where('purpose', '<>', 'undo_email_change')
    .where(
      sql<boolean>`case when ${purpose}::text is null then purpose <> 'invoice_email' else purpose = ${purpose} end`,
    ),
);

/**
 * Ends the user's links for this purpose. Without a purpose, ends all links except links that would prove an address for
 * invoices. Take-back links never end here.
 */
export function deferEndOfMailTokens(
  trx: Transaction<DB>,
  userId: string,
  by: MailTokenEnd,
  purpose: MailTokenPurpose | null = null,
): void {
  endOf(trx, { userId, purpose, by });
}

const endOfInvoiceEmail = prepareDeferred((db, { accountId }: { accountId: string }) =>
  db
    .updateTable('mail_tokens')
    .set(endBy('newer_link'))
    .where('user_id', 'in', (query) =>
      query.selectFrom('users').select('id').where('account_id', '=', accountId),
    )
    .where('ended', 'is', null)
    .where('purpose', '=', 'invoice_email'),
);

/** Ends the links that would prove the account's address for invoices, whichever user of the account the mail went to. */
export const deferEndOfInvoiceEmailTokens = (trx: Transaction<DB>, accountId: string): void =>
  endOfInvoiceEmail(trx, { accountId });

/** Ends the unused links of all invitations to the email address. Until its link is used, an invitation belongs to no user. */
export async function endInvitationTokens(
  trx: Transaction<DB>,
  email: string,
  by: MailTokenEnd,
): Promise<void> {
  await trx
    .updateTable('mail_tokens')
    .set(endBy(by))
    .where('user_id', 'is', null)
    .where('purpose', '=', 'invitation')
    .where('email', '=', email)
    .where('ended', 'is', null)
    .execute();
}

/** `used` is the hash of the token that was used, if there is one. */
export async function endTakeBackTokens(
  db: Database,
  { changeIds, used }: { changeIds: string[]; used: Uint8Array | undefined },
): Promise<void> {
  const by = sql<MailTokenEnd>`case when token_hash = ${used ?? null}::bytea then 'used' else 'taken_back' end`;
  await db
    .updateTable('mail_tokens')
    .set(endBy(by))
    .where(sql<boolean>`change_id = any(${changeIds}::uuid[])`)
    .where('ended', 'is', null)
    .execute();
}

/** `presentEmail` is the current address of the link's user. */
export type KeptMailToken = {
  userId: string | null;
  email: string;
  name: string | null;
  ended: MailTokenEnd | null;
  expiresAt: Date;
  presentEmail: string | null;
};

/** Also finds ended links, for the page that says why a link does not work. */
export async function findKeptMailToken(
  db: Database,
  { tokenHash, purpose }: Omit<MailTokenKey, 'now'>,
): Promise<KeptMailToken | undefined> {
  return db
    .selectFrom('mail_tokens as t')
    .leftJoin('users as u', 'u.id', 't.user_id')
    .select(['t.user_id as userId', 't.email', 't.name', 't.expires_at as expiresAt'])
    .select([sql<MailTokenEnd | null>`t.ended`.as('ended'), 'u.email as presentEmail'])
    .where('t.token_hash', '=', tokenHash)
    .where('t.purpose', '=', purpose)
    .executeTakeFirst();
}

/** Gives a new user the tokens of earlier sign-ups and invitations with their address, except a token that is being used now. */
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
        .where('purpose', 'in', ['sign_up', 'invitation'])
        .where('email', '=', email)
        .where('user_id', 'is', null)
        .forUpdate()
        // Skips a token that another request is using now, because that request waits for this new user.
        .skipLocked(),
    )
    .execute();
}

/** Deletes the tokens of mails that `deleteMailsToTyped` deletes. */
export async function deleteTokensToTyped(db: Database, emails: string[]): Promise<void> {
  await db
    .deleteFrom('mail_tokens')
    .where(sql<boolean>`email = any(${emails})`)
    .where('purpose', 'in', ['sign_up', 'invitation', 'change_email', 'new_address', 'invoice_email'])
    .execute();
}

// The only writer of `mails`: the outbox. A mail is written in the transaction of the change that it tells of. Later a worker of
// any instance sends it. The worker makes the text only then, because the text has secrets that this database must not hold.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { countUpTo } from '../count.ts';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import { copyKeyOf, copyRecipientOf, recipientOf, selectMailboxes } from './billing-mails.ts';
import { type BillingMailKind, billingMailKinds, kindsThat, type MailKind } from './mail-kinds.ts';
import { isNoneOf } from './take-back-changes.ts';

export type MailRow = {
  id: string;
  kind: MailKind;
  /** Null if the user does not exist yet or has been erased. */
  userId: string | null;
  recipient: string;
  details: Record<string, string>;
  createdAt: Date;
  attempts: number;
};

const insert = prepareDeferred(
  (
    db,
    mail: Omit<MailRow, 'createdAt' | 'attempts' | 'details'> & {
      details: string;
      key: string | null;
      now: Date;
    },
  ) =>
    db
      .insertInto('mails')
      .values({
        id: mail.id,
        kind: mail.kind,
        user_id: mail.userId,
        recipient: mail.recipient,
        details: mail.details,
        key: mail.key,
        created_at: mail.now,
        next_attempt_at: mail.now,
      })
      .onConflict((conflict) => conflict.column('key').doNothing()),
);

/** Does nothing if there is a mail with the same key. */
export function deferMail(
  trx: Transaction<DB>,
  mail: Omit<MailRow, 'id' | 'createdAt' | 'attempts'> & { now: Date; key?: string },
): void {
  insert(trx, { ...mail, id: uuidv7(), details: JSON.stringify(mail.details), key: mail.key ?? null });
}

type BillingMail = {
  kind: BillingMailKind;
  /** A unique key: no second mail can have it. */
  key: string;
  contractId: string;
  details: Record<string, string>;
  now: Date;
};

type RowOfContract = Omit<BillingMail, 'details'> & { id: string; details: string };

const prepareOfContract = (toRecipient: typeof recipientOf) =>
  prepareDeferred((db, mail: RowOfContract) =>
    db
      .insertInto('mails')
      .columns(['id', 'kind', 'user_id', 'recipient', 'details', 'created_at', 'next_attempt_at', 'key'])
      .expression(
        selectMailboxes(db)
          .select([
            sql<string>`${mail.id}::uuid`.as('id'),
            sql<string>`${mail.kind}::text`.as('kind'),
            'userId',
            toRecipient(mail.kind).as('email'),
            sql<string>`${mail.details}::jsonb`.as('details'),
            sql<Date>`${mail.now}::timestamptz`.as('created_at'),
            sql<Date>`${mail.now}::timestamptz`.as('next_attempt_at'),
            sql<string>`${mail.key}::text`.as('key'),
          ])
          .where('m.contractId', '=', mail.contractId)
          .where(toRecipient(mail.kind), 'is not', null),
      )
      .onConflict((conflict) => conflict.column('key').doNothing()),
  );

const insertOfContract = prepareOfContract(recipientOf);
const insertCopyOfContract = prepareOfContract(copyRecipientOf);

/**
 * Adds a mail about the contract for the mailbox that gets mails of this kind. If somebody else gets a copy, adds the copy too
 * (contract 7.401). The copy's details have one member, `copy`, with the details of the mail. Does nothing if there is no
 * mailbox, or if there is a mail with the same key.
 */
export function deferBillingMail(trx: Transaction<DB>, { details, key, ...mail }: BillingMail): void {
  const text = JSON.stringify(details);
  insertOfContract(trx, { ...mail, key, id: uuidv7(), details: text });
  const copy = JSON.stringify({ copy: text });
  insertCopyOfContract(trx, { ...mail, key: copyKeyOf(key), id: uuidv7(), details: copy });
}

/**
 * Call this before a user is erased. If they have unsent mails to the address for invoices, these pass to another user of the
 * account.
 */
export async function passOnBillingMails(
  trx: Transaction<DB>,
  { id, account }: { id: string; account: { id: string } },
): Promise<void> {
  await sql`
    update mails set user_id = (
        select o.id from users o where o.account_id = ${account.id} and o.id <> ${id} order by o.id limit 1),
      recipient = d.invoice_email
    from billing_details d
    where d.account_id = ${account.id} and d.invoice_email_proved_at is not null
      and mails.user_id = ${id} and mails.sent_at is null and mails.kind = any(${billingMailKinds}::text[])`.execute(
    trx,
  );
}

/**
 * Postpones a mail that needs something that is not ready yet, such as a PDF. The present try is not counted. If the PDF has
 * been made since, a trigger has set another time for the next try. Then the lease no longer matches, so this does nothing.
 */
export async function postponeMail(
  db: Database,
  id: string,
  { leaseEndsAt, until }: { leaseEndsAt: Date; until: Date },
): Promise<void> {
  await db
    .updateTable('mails')
    .set((eb) => ({ attempts: eb('attempts', '-', 1), created_at: until, next_attempt_at: until }))
    .where('id', '=', id)
    .where('next_attempt_at', '=', leaseEndsAt)
    .execute();
}

/** Whether the mail is on hold because billing waits. A trigger has then set the next try to this instant. */
export const isOnHold = sql<boolean>`(given_up_at is null and next_attempt_at = '9999-01-01 00:00:00Z'::timestamptz)`;

/** Counts unsent mails that failed or were given up, but at most `limit`. */
export const countFailedMails = (db: Database, limit: number): Promise<number> =>
  countUpTo(
    db,
    limit,
    sql`from mails where sent_at is null and (last_error is not null or given_up_at is not null)`,
  );

/** Makes mails due that were on hold because billing waited. Returns how many there were. */
export async function releaseBillingMails(db: Database, now: Date): Promise<number> {
  const result = await db
    .updateTable('mails')
    .set({ created_at: now, next_attempt_at: now })
    .where('sent_at', 'is', null)
    .where('kind', 'in', billingMailKinds)
    .where(isOnHold)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

export async function setRecipient(db: Database, ids: string[], recipient: string): Promise<void> {
  await db.updateTable('mails').set({ recipient }).where('id', 'in', ids).execute();
}

/**
 * Mails are sent in lanes. People wait for mails in `holders` and `sign_ups` (contract 9.125 and 9.274). Anybody can cause mails
 * in `sign_ups` by typing an address. Each lane has an index, so that mails in one lane do not slow down another.
 */
export type Lane = 'holders' | 'sign_ups' | 'other';

/** The lanes in the order in which they are sent. */
export const lanes: readonly Lane[] = ['holders', 'sign_ups', 'other'];

// Written like the conditions of the indexes mails_awaited_idx, mails_holders_idx, mails_sign_ups_idx and mails_other_idx.
// Otherwise Postgres could not use them.
const isOneOf = (kinds: MailKind[]) =>
  sql<boolean>`kind in (${sql.join(kinds.map((kind) => sql.lit(kind)))})`;
const isAwaited = sql<boolean>`(${isOneOf(kindsThat((mail) => mail.isAwaited))} or details ? 'until')`;
const isCaused = isOneOf(kindsThat((mail) => mail.isCaused));

const isIn: Record<Lane, RawBuilder<boolean>> = {
  holders: sql<boolean>`${isAwaited} and not ${isCaused}`,
  sign_ups: isCaused,
  other: sql<boolean>`not ${isAwaited}`,
};

type Due = { lane: Lane; now: Date; limit: number };

/** Skips mails that another worker is claiming. */
export const lockDueMails = (db: Pick<Database, 'selectFrom'>, { lane, now, limit }: Due) =>
  db
    .selectFrom('mails')
    .select('id')
    .where('sent_at', 'is', null)
    .where('given_up_at', 'is', null)
    .where(isIn[lane])
    .where('next_attempt_at', '<=', now)
    .orderBy('next_attempt_at')
    // Without this order, Postgres might not use the index of the lane.
    .orderBy(lane === 'other' ? 'id' : 'created_at')
    .limit(limit)
    .forUpdate()
    .skipLocked();

/** Lends due mails to this worker until `leaseEndsAt`. If the worker dies, another worker gets its mails. */
export async function claimMails(
  db: Database,
  { leaseEndsAt, ...due }: Due & { leaseEndsAt: Date },
): Promise<MailRow[]> {
  const rows = await db
    .with('due', (query) => lockDueMails(query, due))
    .updateTable('mails as m')
    .from('due')
    .set((eb) => ({ attempts: eb('m.attempts', '+', 1), next_attempt_at: leaseEndsAt }))
    .whereRef('m.id', '=', 'due.id')
    .returning([
      'm.id',
      'm.kind',
      'm.user_id as userId',
      'm.recipient',
      'm.details',
      'm.created_at as createdAt',
      'm.attempts',
    ])
    .execute();
  return rows as MailRow[];
}

/**
 * `includes` is another mail that was sent as a part of this one. If a worker is killed, both or neither are marked. `kept` is
 * what local mode shows of a mail that it did not give to a mail server.
 */
export async function markMailSent(
  db: Database,
  { id, includes = id }: { id: string; includes?: string | undefined },
  now: Date,
  kept?: { subject: string; text: string; html: string },
): Promise<void> {
  const keep = (text: string | undefined) => sql<string>`case when id = ${id} then ${text ?? null}::text end`;
  await db
    .updateTable('mails')
    .set({
      sent_at: now,
      last_error: null,
      // If somebody has given up the mail while it was being sent, that is undone.
      given_up_at: null,
      // The name is deleted here, because it is in the row of the mail token now.
      details: sql`details - 'name'`,
      kept_subject: keep(kept?.subject),
      kept_text: keep(kept?.text),
      kept_html: keep(kept?.html),
    })
    .where('id', 'in', [id, includes])
    .execute();
}

/** Deletes a mail whose address must not be kept. */
export async function deleteMail(db: Database, id: string): Promise<void> {
  await db.deleteFrom('mails').where('id', '=', id).execute();
}

const voidable = kindsThat((mail) => mail.isVoidable);

/** Deletes unsent mails with links that must not be sent any more. */
export async function deleteUnsentLetters(
  db: Database,
  userId: string,
  kinds: MailKind[] = voidable,
): Promise<void> {
  await db
    .deleteFrom('mails')
    .where('user_id', '=', userId)
    .where('kind', 'in', kinds)
    .where('sent_at', 'is', null)
    .execute();
}

/** Until the link of an invitation is used, the mail of the invitation belongs to no user. */
export async function deleteUnsentInvitations(trx: Transaction<DB>, email: string): Promise<void> {
  await trx
    .deleteFrom('mails')
    .where('user_id', 'is', null)
    .where('kind', '=', 'invitation')
    .where('recipient', '=', email)
    .where('sent_at', 'is', null)
    .execute();
}

/**
 * Deletes unsent mails with a link that would prove the account's address for invoices, whichever user of the account they
 * belong to.
 */
export async function deleteUnsentInvoiceEmailMails(db: Database, accountId: string): Promise<void> {
  await db
    .deleteFrom('mails')
    .where('user_id', 'in', (query) =>
      query.selectFrom('users').select('id').where('account_id', '=', accountId),
    )
    .where('kind', '=', 'invoice_email')
    .where('sent_at', 'is', null)
    .execute();
}

/** Deletes unsent mails with a take-back link, except mails to the mailboxes `except`. A summary mail stays, without its link. */
export async function deleteUnsentTakeBackMails(
  db: Database,
  userId: string,
  except: string[],
): Promise<void> {
  const isOfThem = sql<boolean>`user_id = ${userId} and sent_at is null and details ? 'change'
    and ${isNoneOf('recipient', except)}`;
  await db
    .updateTable('mails')
    .set({ details: sql`details - 'change' - 'until'` })
    .where(isOfThem)
    .where(isSummary)
    .execute();
  await db.deleteFrom('mails').where(isOfThem).execute();
}

/** A summary mail is about notices that were kept back (server/identity/ground/notice-limits.ts). */
const isSummary = sql<boolean>`details ? 'rest'`;

/** The group of notices about the owner's login. It has all notices that belong to no other group. */
export const ownSummary = 'true';

/** `group` is the group of notices that a summary mail is about. */
type Rest = { userId: string; recipient: string; group: string };

const isOfGroup = (group: string) => sql<boolean>`details->>'rest' = ${group}`;

/**
 * Returns when the last summary mail to this mailbox was or is due, and when the last summary mail with a take-back link was or
 * is due.
 */
export async function findLastSummary(
  db: Database,
  { userId, recipient, group }: Rest,
): Promise<{ dueAt: Date | null; withLinkDueAt: Date | null }> {
  return db
    .selectFrom('mails')
    .select([
      sql<Date | null>`max(created_at)`.as('dueAt'),
      sql<Date | null>`max(created_at) filter (where details ? 'until')`.as('withLinkDueAt'),
    ])
    .where('user_id', '=', userId)
    .where('recipient', '=', recipient)
    .where(isOfGroup(group))
    .executeTakeFirstOrThrow();
}

/** The take-back link of a change, for a summary mail. */
type RestLink = { kind: MailKind; change: string; until: string };

/** Adds a notice to a summary mail that no worker has claimed yet. Returns false if there is no such mail. */
export async function addToSummary(
  db: Database,
  { userId, recipient, group, dueAt, link }: Rest & { dueAt: Date; link?: RestLink | undefined },
): Promise<boolean> {
  const { kind = null, ...added } = link ?? {};
  const result = await db
    .updateTable('mails')
    .set({
      kind: sql`coalesce(${kind}, kind)`,
      details: sql`details || ${JSON.stringify(added)}::jsonb`,
      created_at: sql`least(created_at, ${dueAt}::timestamptz)`,
      next_attempt_at: sql`least(next_attempt_at, ${dueAt}::timestamptz)`,
    })
    .where('user_id', '=', userId)
    .where('recipient', '=', recipient)
    .where(isOfGroup(group))
    .where('attempts', '=', 0)
    .where('sent_at', 'is', null)
    .where('given_up_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteAllUnsentLetters(db: Database): Promise<number> {
  const query = db
    .deleteFrom('mails')
    .where('kind', 'in', [...voidable, 'invoice_email'])
    .where('sent_at', 'is', null);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/**
 * Makes sure that only one transaction at a time writes mails about unchecked VAT ids. Returns false if another transaction
 * writes them now.
 */
export async function lockVatIdMails(trx: Transaction<DB>): Promise<boolean> {
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('vat_ids_to_check', 0)) as is_ours`.execute(trx);
  return rows[0]?.is_ours === true;
}

export async function hasRecentMail(
  db: Database,
  { userId, kind, since }: { userId: string; kind: MailKind; since: Date },
): Promise<boolean> {
  const row = await db
    .selectFrom('mails')
    .select('id')
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .where('created_at', '>', since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** If somebody has given up the mail while it was being sent, it stays as it is. */
export async function markMailFailed(
  db: Database,
  id: string,
  { error, ...next }: { error: string } & ({ nextAttemptAt: Date } | { givenUpAt: Date }),
): Promise<void> {
  await db
    .updateTable('mails')
    .set({
      last_error: error,
      ...('givenUpAt' in next ? { given_up_at: next.givenUpAt } : { next_attempt_at: next.nextAttemptAt }),
    })
    .where('id', '=', id)
    .where('given_up_at', 'is', null)
    .execute();
}

export type WaitingMail = {
  id: string;
  kind: string;
  recipient: string;
  attempts: number;
  lastError: string | null;
  givenUpAt: Date | null;
};

export async function listFailedMails(db: Database): Promise<WaitingMail[]> {
  return db
    .selectFrom('mails')
    .select(['id', 'kind', 'recipient', 'attempts', 'last_error as lastError', 'given_up_at as givenUpAt'])
    .where('sent_at', 'is', null)
    .where('last_error', 'is not', null)
    .orderBy('created_at')
    .limit(1_000)
    .execute();
}

/** Makes all failed mails due again, as if they were just written. Returns how many there were. */
export async function retryFailedMails(db: Database, now: Date): Promise<number> {
  const result = await db
    .updateTable('mails')
    .set({ given_up_at: null, created_at: now, next_attempt_at: now, attempts: 0 })
    .where('sent_at', 'is', null)
    .where('last_error', 'is not', null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/**
 * Makes a failed or given-up mail due again, as if it was just written. Returns false for a mail that is on hold while billing
 * waits. If the next try of a mail is no later than `leaseEndsAt`, a worker may be sending that mail now. Then a failed mail
 * stays as it is, and the function returns false. A given-up mail becomes due at the time of its next try, when the worker's
 * lease has ended.
 */
export async function retryMail(
  db: Database,
  { id, now, leaseEndsAt }: { id: string; now: Date; leaseEndsAt: Date },
): Promise<boolean> {
  const isLeased = sql<boolean>`(next_attempt_at > ${now} and next_attempt_at <= ${leaseEndsAt})`;
  const result = await db
    .updateTable('mails')
    .set({
      given_up_at: null,
      created_at: now,
      next_attempt_at: sql`case when ${isLeased} then next_attempt_at else ${now}::timestamptz end`,
      attempts: 0,
    })
    .where('id', '=', id)
    .where('sent_at', 'is', null)
    .where(sql<boolean>`not ${isOnHold}`)
    .where(
      sql<boolean>`(given_up_at is not null or last_error is not null and next_attempt_at > ${leaseEndsAt})`,
    )
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Returns whether the mail must not be given up (contract 12.126). This is true if it has a take-back link, or if its kind
 * forbids it. It is also true for a summary mail, because a take-back link may still be added.
 */
export const mustLeave = sql<boolean>`(details ?| array['until', 'change', 'rest'] or ${isOneOf(kindsThat((mail) => mail.is === 'warning'))})`;

/**
 * Gives up a mail. Returns false if the mail must be sent, or was already sent or given up. Clears the last error, so that
 * `retryFailedMails` skips the mail. A mail to an erased person is deleted, because it contains their address.
 */
export async function giveUpMail(db: Database, { id, now }: { id: string; now: Date }): Promise<boolean> {
  const isTheOne = sql<boolean>`id = ${id} and sent_at is null and given_up_at is null and not ${mustLeave}`;
  const { numDeletedRows } = await db
    .deleteFrom('mails')
    .where(isTheOne)
    .where('kind', '=', 'account_deleted')
    .executeTakeFirst();
  const { numUpdatedRows } = await db
    .updateTable('mails')
    .set({ given_up_at: now, last_error: null })
    .where(isTheOne)
    .executeTakeFirst();
  return numDeletedRows + numUpdatedRows > 0n;
}

/** Gives a new user the mails of earlier sign-ups and invitations with their address. */
export async function assignSignUpMails(
  db: Database,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  await db
    .updateTable('mails')
    .set({ user_id: userId })
    .where('kind', 'in', ['sign_up', 'invitation'])
    .where('recipient', '=', email)
    .where('user_id', 'is', null)
    .execute();
}

/** Deletes mails to these addresses if somebody only typed the address, for example for a sign-up or invoices. */
export async function deleteMailsToTyped(db: Database, emails: string[]): Promise<void> {
  await db
    .deleteFrom('mails')
    .where(sql<boolean>`recipient = any(${emails})`)
    .where('kind', 'in', [...kindsThat((mail) => mail.isToTyped), ...billingMailKinds])
    .execute();
}

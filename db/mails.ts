// The only writer of `mails`: the outbox. A mail is written in the transaction that it tells of, and sent by
// a worker of any instance afterwards; its text is made then, because it holds what this database must not.
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { LetterKind, MailKind } from './mail-kinds.ts';
import type { Database } from './postgres/client.ts';
import { prepareDeferredWrite } from './postgres/prepare.ts';
import { isOneOf, type Mailboxes } from './take-back-changes.ts';

export type MailRow = {
  id: string;
  kind: MailKind;
  /** Null for somebody who has none yet, or is erased. */
  userId: string | null;
  recipient: string;
  details: Record<string, string>;
  createdAt: Date;
  attempts: number;
};

const insert = prepareDeferredWrite(
  (db, mail: Omit<MailRow, 'createdAt' | 'attempts' | 'details'> & { details: string; now: Date }) =>
    db.insertInto('mails').values({
      id: mail.id,
      kind: mail.kind,
      user_id: mail.userId,
      recipient: mail.recipient,
      details: mail.details,
      created_at: mail.now,
      next_attempt_at: mail.now,
    }),
);

export async function insertMail(
  db: Database,
  mail: Omit<MailRow, 'id' | 'createdAt' | 'attempts'> & { now: Date },
): Promise<void> {
  await insert(db, { ...mail, id: uuidv7(), details: JSON.stringify(mail.details) });
}

/**
 * Mails whose time has come, lent to this worker until `leaseEndsAt`: one that dies with them leaves them to
 * the next. Those that another worker is taking at this moment are skipped.
 */
export async function claimMails(
  db: Database,
  { now, leaseEndsAt, limit }: { now: Date; leaseEndsAt: Date; limit: number },
): Promise<MailRow[]> {
  const rows = await db
    .with('due', (query) =>
      query
        .selectFrom('mails')
        .select('id')
        .where('sent_at', 'is', null)
        .where('given_up_at', 'is', null)
        .where('next_attempt_at', '<=', now)
        .orderBy('next_attempt_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
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

/** `kept` is what there is to show where no mail server takes it. */
export async function markMailSent(
  db: Database,
  id: string,
  now: Date,
  kept?: { subject: string; text: string; html: string },
): Promise<void> {
  await db
    .updateTable('mails')
    .set({
      sent_at: now,
      last_error: null,
      // By now the token has it.
      details: sql`details - 'name'`,
      kept_subject: kept?.subject ?? null,
      kept_text: kept?.text ?? null,
      kept_html: kept?.html ?? null,
    })
    .where('id', '=', id)
    .execute();
}

/** For one whose address must not be kept. */
export async function deleteMail(db: Database, id: string): Promise<void> {
  await db.deleteFrom('mails').where('id', '=', id).execute();
}

// Those with a take-back link go out whatever happens to their user, who may need it.
const voidable: LetterKind[] = [
  'welcome',
  'set_password',
  'prove_address',
  'verify_email',
  'sign_up',
  'change_email',
];

/** Those with a token to come, which must not be made any more. */
export async function deleteUnsentLetters(
  db: Database,
  userId: string,
  kinds: LetterKind[] = voidable,
): Promise<void> {
  await db
    .deleteFrom('mails')
    .where('user_id', '=', userId)
    .where('kind', 'in', kinds)
    .where('sent_at', 'is', null)
    .execute();
}

/** Those to these mailboxes with a take-back link to come. */
export async function deleteUnsentTakeBackMails(
  db: Database,
  userId: string,
  mailboxes: Mailboxes,
): Promise<void> {
  await db
    .deleteFrom('mails')
    .where('user_id', '=', userId)
    .where(sql<boolean>`details ->> 'change' is not null`)
    .where(isOneOf('recipient', mailboxes))
    .where('sent_at', 'is', null)
    .execute();
}

/** Of everybody. The result is how many. */
export async function deleteAllUnsentLetters(db: Database): Promise<number> {
  const query = db.deleteFrom('mails').where('kind', 'in', voidable).where('sent_at', 'is', null);
  return Number((await query.executeTakeFirst()).numDeletedRows);
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

/** To be tried again then, or given up now. */
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

/** Not sent yet after a try, or given up; the oldest first. */
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

/** All that failed are due at once, as if just written; how many. */
export async function retryFailedMails(db: Database, now: Date): Promise<number> {
  const result = await db
    .updateTable('mails')
    .set({ given_up_at: null, created_at: now, next_attempt_at: now, attempts: 0 })
    .where('sent_at', 'is', null)
    .where('last_error', 'is not', null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

/** Of sign-ups with that address: they belong to nobody yet. */
export async function deleteSignUpMails(db: Database, recipient: string): Promise<void> {
  await db.deleteFrom('mails').where('recipient', '=', recipient).where('user_id', 'is', null).execute();
}

// Lists unsent mails for administrators (contract 12.120 and 12.121). This file only reads.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import { isOnHold, mustLeave } from './mails.ts';

export type UnsentMail = {
  id: string;
  kind: string;
  /** Null if the user does not exist yet or is erased. */
  userId: string | null;
  accountId: string | null;
  recipient: string;
  createdAt: Date;
  attempts: number;
  nextAttemptAt: Date;
  /** Null if the mail was given up or has never failed. */
  lastError: string | null;
  givenUpAt: Date | null;
  mustLeave: boolean;
  /** The mail waits with billing after a restore. */
  isOnHold: boolean;
};

/** A mail is `waiting` if it has not failed yet. */
export const mailStates = ['failed', 'given_up', 'waiting'] as const;

export type MailState = (typeof mailStates)[number];

/** The last mail of the previous page. */
export type MailPlace = { at: Date; id: string };

const isIn: Record<MailState, RawBuilder<boolean>> = {
  failed: sql<boolean>`given_up_at is null and last_error is not null`,
  given_up: sql<boolean>`given_up_at is not null`,
  waiting: sql<boolean>`given_up_at is null and last_error is null`,
};

// The words must match the index mails_failed_idx.
const hasFailed = sql<boolean>`(last_error is not null or given_up_at is not null)`;

const selectUnsent = (db: Pick<Database, 'selectFrom'>) =>
  db
    .selectFrom('mails')
    .select([
      'id',
      'kind',
      'user_id as userId',
      sql<string | null>`(select account_id from users u where u.id = mails.user_id)`.as('accountId'),
      'recipient',
      'created_at as createdAt',
      'attempts',
      'next_attempt_at as nextAttemptAt',
      'last_error as lastError',
      'given_up_at as givenUpAt',
      mustLeave.as('mustLeave'),
      isOnHold.as('isOnHold'),
    ])
    .where('sent_at', 'is', null);

/** Waiting mails are listed by their next try, the soonest first. All others are listed by their age, the newest first. */
export const placeOf = (state: MailState | undefined, mail: UnsentMail): MailPlace => ({
  at: state === 'waiting' ? mail.nextAttemptAt : mail.createdAt,
  id: mail.id,
});

/** Without a state, lists mails that failed or were given up. */
export async function listUnsentMails(
  db: Database,
  {
    state,
    kind,
    after,
    limit,
  }: { state?: MailState; kind?: string; after?: MailPlace | undefined; limit: number },
): Promise<UnsentMail[]> {
  let query = selectUnsent(db).limit(limit);
  query =
    state === 'waiting'
      ? query.orderBy('next_attempt_at').orderBy('id')
      : query.where(hasFailed).orderBy('created_at', 'desc').orderBy('id', 'desc');
  if (state) query = query.where(isIn[state]);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (after)
    query = query.where(
      state === 'waiting'
        ? sql<boolean>`(next_attempt_at, id) > (${after.at}, ${after.id}::uuid)`
        : sql<boolean>`(created_at, id) < (${after.at}, ${after.id}::uuid)`,
    );
  return query.execute();
}

export const findUnsentMail = (db: Database, id: string): Promise<UnsentMail | undefined> =>
  selectUnsent(db).where('id', '=', id).executeTakeFirst();

export async function lockUnsentMail(trx: Transaction<DB>, id: string): Promise<void> {
  await trx
    .selectFrom('mails')
    .select('id')
    .where('id', '=', id)
    .where('sent_at', 'is', null)
    .forUpdate()
    .execute();
}

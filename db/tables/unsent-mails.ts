// Lists unsent mails for administrators (contract 12.120 and 12.121). This file only reads.
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { countUpTo } from '../count.ts';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import { isOnHold, mustLeave } from './mails.ts';

export type UnsentMail = {
  id: string;
  kind: string;
  /** Null if the user does not exist yet or has been erased. */
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
  /** Whether the mail is on hold because billing waits after a restore. */
  isOnHold: boolean;
};

/** `waiting` means that the mail has not failed yet. */
export const mailStates = ['failed', 'given_up', 'waiting'] as const;

export type MailState = (typeof mailStates)[number];

/** The last mail of the previous page. */
export type MailPlace = { at: Date; id: string };

const isIn: Record<MailState, RawBuilder<boolean>> = {
  failed: sql<boolean>`given_up_at is null and last_error is not null`,
  given_up: sql<boolean>`given_up_at is not null`,
  waiting: sql<boolean>`given_up_at is null and last_error is null`,
};

// This condition must be written as in the index mails_failed_idx.
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

/**
 * A `-` in front reverses the order. `next` sorts waiting mails by their next try. `written` sorts all other mails by when they
 * were written.
 */
export const mailSorts = ['written', '-written', 'next', '-next'] as const;

export type MailSort = (typeof mailSorts)[number];

export const placeOf = (state: MailState | undefined, mail: UnsentMail): MailPlace => ({
  at: state === 'waiting' ? mail.nextAttemptAt : mail.createdAt,
  id: mail.id,
});

type Filters = { state?: MailState; kind?: string; people?: string[] };

/** Without a state, finds mails that failed or were given up. With `people`, finds only mails to those people. */
const fits = ({ state, kind, people }: Filters) =>
  sql<boolean>`${state === 'waiting' ? sql`true` : hasFailed} and ${state ? isIn[state] : sql`true`}
    and ${kind === undefined ? sql`true` : sql`kind = ${kind}`}
    and ${people ? sql`id = any(array(select other.id from mails other where other.user_id = any(${people}::uuid[])))` : sql`true`}`;

export async function listUnsentMails(
  db: Database,
  {
    sort,
    after,
    limit,
    ...filters
  }: Filters & { sort: MailSort; after?: MailPlace | undefined; limit: number },
): Promise<UnsentMail[]> {
  const isDown = sort.startsWith('-');
  const place = filters.state === 'waiting' ? sql`next_attempt_at` : sql`created_at`;
  let query = selectUnsent(db).where(fits(filters)).limit(limit);
  for (const each of [place, sql`id`]) query = query.orderBy(each, isDown ? 'desc' : 'asc');
  if (after)
    query = query.where(
      sql<boolean>`(${place}, id) ${isDown ? sql`<` : sql`>`} (${after.at}, ${after.id}::uuid)`,
    );
  return query.execute();
}

export const countUnsentMails = (db: Database, limit: number, filters: Filters): Promise<number> =>
  countUpTo(db, limit, sql`from mails where sent_at is null and ${fits(filters)}`);

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

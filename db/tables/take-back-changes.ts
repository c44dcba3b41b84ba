// The only writer of `take_back_changes`. Each row is a change that was reported to a mailbox, in a mail with a take-back link
// (contract 2.40 to 2.44). The link works while the row exists and has time left. The row stays for another week after that,
// because the window of another link may begin with this change (contract 2.44).
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { CodeFactor } from './users.ts';

export type Told =
  | 'passkey_added'
  | `${CodeFactor}_added`
  | 'recovery_codes_made'
  | 'email_changed'
  | 'deletion_requested';

export type TakeBackChange = {
  id: string;
  /** The mailbox that the change was reported to. */
  email: string;
  what: Told;
  at: Date;
  /** When the link ends. A suspension stops the link's time: while the user is suspended, this is after the year 3000. */
  expiresAt: Date;
  /** The kind of browser. Null if the change was not made in a browser of the person. */
  device: string | null;
};

export async function insertTakeBackChange(
  db: Database,
  { userId, ...change }: TakeBackChange & { userId: string },
): Promise<void> {
  await db
    .insertInto('take_back_changes')
    .values({
      id: change.id,
      user_id: userId,
      email: change.email,
      what: change.what,
      at: change.at,
      expires_at: change.expiresAt,
      device: change.device,
    })
    .execute();
}

export async function findLastChangeAt(db: Database, userId: string): Promise<Date | undefined> {
  const row = await db
    .selectFrom('take_back_changes')
    .select('at')
    .where('user_id', '=', userId)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

/**
 * Returns the start of the mailbox's window (contract 2.44). It begins with the first change in the `days` before the oldest
 * change with a working link. A link works if it ends after `worksUntil`. Returns undefined if no link works. Because a
 * suspension pauses links, this compares the ends of links and not the ages of changes.
 */
export async function findWindowStart(
  db: Database,
  { userId, email, worksUntil, days }: { userId: string; email: string; worksUntil: Date; days: number },
): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date }>`
    with told as (select at, expires_at from take_back_changes where user_id = ${userId} and email = ${email})
    select told.at
      from told, (select expires_at from told where expires_at > ${worksUntil} order by at limit 1) as oldest
      where told.expires_at >= oldest.expires_at - make_interval(hours => 24 * ${days}::int)
      order by told.at limit 1`.execute(db);
  return rows[0]?.at;
}

/** Lists at most `limit` changes, and counts all of them. */
export async function listChangesSince(
  db: Database,
  { userId, since, limit }: { userId: string; since: Date; limit: number },
): Promise<{ newest: Pick<TakeBackChange, 'what' | 'at' | 'device'>[]; count: number }> {
  const query = db.selectFrom('take_back_changes').where('user_id', '=', userId).where('at', '>=', since);
  const newest = await query
    .select([sql<Told>`what`.as('what'), 'at', 'device'])
    .orderBy('at', 'desc')
    .limit(limit)
    .execute();
  const { count } = await query.select(sql<number>`count(*)::int`.as('count')).executeTakeFirstOrThrow();
  return { newest, count };
}

/** Returns the user's newest change whose link ends after `worksUntil`. */
export async function findLastWorkingChangeAt(
  db: Database,
  { userId, worksUntil }: { userId: string; worksUntil: Date },
): Promise<Date | undefined> {
  const row = await db
    .selectFrom('take_back_changes')
    .select('at')
    .where('user_id', '=', userId)
    .where('expires_at', '>', worksUntil)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

/** Finds the newest change of address whose mail went to this mailbox and whose link ends after `worksUntil`. */
export async function findWorkingChangeOfAddress(
  db: Database,
  { userId, email, worksUntil }: { userId: string; email: string; worksUntil: Date },
): Promise<Pick<TakeBackChange, 'id' | 'at' | 'expiresAt' | 'device'> | undefined> {
  return db
    .selectFrom('take_back_changes')
    .select(['id', 'at', 'expires_at as expiresAt', 'device'])
    .where('user_id', '=', userId)
    .where('email', '=', email)
    .where('what', '=', 'email_changed')
    .where('expires_at', '>', worksUntil)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** What was reported to a mailbox in mails with links that still work. Each kind of change is in `what` only one time. */
export type ToldMailbox = { email: string; what: Told; count: number; lastAt: Date };

/** Returns whether the mailbox is the user's now, or reserved for them. */
const isTheirs = (userId: string, now: Date) => sql<boolean>`(
  email = (select email from users where id = ${userId}) or email in (
    select email from reserved_addresses where user_id = ${userId} and expires_at > ${now}))`;

type Working = { userId: string; worksUntil: Date; now: Date };

/** Finds the user's mailbox to which the earliest change with a working link was reported. */
export async function findEarliestMailbox(
  db: Database,
  { userId, worksUntil, now }: Working,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('take_back_changes')
    .select('email')
    .where('user_id', '=', userId)
    .where(isTheirs(userId, now))
    .where('expires_at', '>', worksUntil)
    .orderBy('at')
    .limit(1)
    .executeTakeFirst();
  return row?.email;
}

export async function listToldMailboxes(
  db: Database,
  { userId, worksUntil, now }: Working,
): Promise<ToldMailbox[]> {
  return db
    .selectFrom('take_back_changes')
    .select(['email', sql<Told>`what`.as('what'), sql<number>`count(*)::int`.as('count')])
    .select(sql<Date>`max(at)`.as('lastAt'))
    .where('user_id', '=', userId)
    .where(isTheirs(userId, now))
    .where('expires_at', '>', worksUntil)
    .groupBy(['email', 'what'])
    .orderBy('lastAt')
    .execute();
}

/** Counts a guess at a code. Returns the number of guesses so far, or undefined after `max` guesses. */
export async function countGuess(
  db: Database,
  { id, max }: { id: string; max: number },
): Promise<number | undefined> {
  const row = await db
    .updateTable('take_back_changes')
    .set((change) => ({ guesses: change('guesses', '+', 1) }))
    .where('id', '=', id)
    .where('guesses', '<', max)
    .returning('guesses')
    .executeTakeFirst();
  return row?.guesses;
}

export const isNoneOf = (column: 'email' | 'recipient', mailboxes: string[]) =>
  sql<boolean>`${sql.ref(column)} <> all(${mailboxes}::text[])`;

/**
 * Locks the user's changes that were reported to any mailbox except the mailboxes in `except`. Returns the ids of the changes.
 */
export async function lockTakeBackChanges(db: Database, userId: string, except: string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('take_back_changes')
    .select('id')
    .where('user_id', '=', userId)
    .where(isNoneOf('email', except))
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Ends the user's links to all mailboxes except the mailboxes in `except`. The caller has locked the user and deleted the
 * unsent mails.
 */
export async function deleteTakeBackChanges(db: Database, userId: string, except: string[]): Promise<void> {
  await db
    .deleteFrom('take_back_changes')
    .where('user_id', '=', userId)
    .where(isNoneOf('email', except))
    .execute();
}

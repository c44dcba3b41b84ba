// The only writer of `take_back_changes`: the changes that mails with a take-back link told each mailbox of a user (contract
// 2.40 to 2.44). The link works as long as its row is here and has time left. Rows with an ended link are kept for a week more:
// the window of another link may begin with them.
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
  /** The mailbox that was told. */
  email: string;
  what: Told;
  at: Date;
  /** When the change's link ends. For a suspended user, whose time stands still, after the year 3000. */
  expiresAt: Date;
  /** The kind of browser; null if no person's browser made the change. */
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

/** The instant of the user's last change here. */
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
 * When the window of that mailbox begins (contract 2.44): with the first change that was told to it within `days`, the time of
 * a link, before the oldest change with a working link, one that ends after `worksUntil`. Undefined if no link works. Compares
 * when links end, not when changes were made: while a user is suspended, time stands still.
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

/** The changes since then: the newest of them, and how many there were. */
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

/** The instant of the user's newest change with a link that works at that time. */
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

/** The change of address that a mailbox was told of last by a link that works at that time. */
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

/** What a mailbox was told of by links that work, each kind once. */
export type ToldMailbox = { email: string; what: Told; count: number; lastAt: Date };

/** Whether that mailbox is the user's now, or reserved for them. */
const isTheirs = (userId: string, now: Date) => sql<boolean>`(
  email = (select email from users where id = ${userId}) or email in (
    select email from reserved_addresses where user_id = ${userId} and expires_at > ${now}))`;

type Working = { userId: string; worksUntil: Date; now: Date };

/** The mailbox of that user that was told of the earliest change whose link works. */
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

/** What was told to each mailbox that is the user's now, or reserved for them; the first told first. */
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

/** Counts one guess at a code with a link of that change: how many there were, or undefined after the first `max`. */
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

/** Whether the address in that column is none of these mailboxes. */
export const isNoneOf = (column: 'email' | 'recipient', mailboxes: string[]) =>
  sql<boolean>`${sql.ref(column)} <> all(${mailboxes}::text[])`;

/** Locks the changes that all mailboxes but these were told of, and gives their ids. */
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

/** Ends the links to all mailboxes but these. The caller has locked the user, and deleted the mails that are still to be sent. */
export async function deleteTakeBackChanges(db: Database, userId: string, except: string[]): Promise<void> {
  await db
    .deleteFrom('take_back_changes')
    .where('user_id', '=', userId)
    .where(isNoneOf('email', except))
    .execute();
}

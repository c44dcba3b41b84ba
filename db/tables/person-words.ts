// The only writer of `person_words`, the words by which staff find people. It also writes the queue `people_to_index`. Triggers
// add people whose words have changed to the queue (queue_person and queue_people_of_account in db/schema.sql).
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { countUpTo } from '../count.ts';
import type { Database } from '../postgres/client.ts';
import { connectionOf } from '../postgres/transactions.ts';
import type { DB } from '../schema.ts';
import type { InternalRole, User } from './users.ts';

/** All filters except the role. */
export const statesToFilter = ['suspended', 'frozen', 'unproved', 'waiting', 'leaving'] as const;

export type FilterState = (typeof statesToFilter)[number];

/** The condition of each filter (contract 12.57), for statements with `users as u` and `accounts as a`. */
const isIn: Record<FilterState, RawBuilder<boolean>> = {
  suspended: sql`u.suspended_at is not null and u.frozen_at is null`,
  frozen: sql`u.frozen_at is not null`,
  unproved: sql`u.email_verified_at is null`,
  waiting: sql`'sell_products' = any(a.capabilities) and a.verified_at is null`,
  leaving: sql`u.deletion_due_at is not null`,
};

export type PersonToIndex = {
  id: string;
  email: string;
  name: string;
  accountName: string;
  /** The role and the states of the person. */
  flags: string[];
};

export async function hasPeopleToIndex(db: Database): Promise<boolean> {
  return (await db.selectFrom('people_to_index').select('user_id').limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Removes at most `limit` entries from the queue, the newest people first. These people cannot be erased until the transaction
 * ends. People who are being erased stay in the queue. Returns undefined if another transaction is doing this now. Otherwise
 * the slower of the two transactions could overwrite a person's new words with older ones.
 */
export async function takePeopleToIndex(
  trx: Transaction<DB>,
  limit: number,
): Promise<{ people: PersonToIndex[]; hasMore: boolean } | undefined> {
  const lock = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('people to index', 0)) as is_ours`.execute(trx);
  if (!lock.rows[0]?.is_ours) return undefined;
  // Finds the entries again by `ctid`, because Postgres might otherwise scan the whole queue for them.
  const { rows: entries } = await sql<{ user_id: string }>`
    delete from people_to_index where ctid = any(array(
      select ctid from people_to_index order by user_id desc limit ${sql.lit(limit)}))
    returning user_id`.execute(trx);
  const ids = [...new Set(entries.map(({ user_id: id }) => id))];
  const states = statesToFilter.map((state) => sql`case when ${isIn[state]} then ${sql.lit(state)} end`);
  const { rows: people } = await sql<PersonToIndex>`
    select u.id, u.email, u.name, a.name as "accountName",
      array_remove(array[u.role, ${sql.join(states)}], null) as flags
    from users u join accounts a on a.id = u.account_id where u.id = any(${ids}::uuid[])
    for key share of u skip locked`.execute(trx);
  if (people.length < ids.length) {
    const found = new Set(people.map(({ id }) => id));
    await sql`insert into people_to_index (user_id)
      select id from users where id = any(${ids.filter((id) => !found.has(id))}::uuid[])
      on conflict do nothing`.execute(trx);
  }
  return { people, hasMore: entries.length === limit && people.length > 0 };
}

/** This character marks a flag among the words. No word begins with it. */
const flagMark = '=';

export async function writePersonWords(
  trx: Transaction<DB>,
  people: { id: string; words: string[]; flags: string[] }[],
): Promise<void> {
  const rows = people.map(({ id, words, flags }) => ({
    id,
    words: [...words, ...flags.map((flag) => flagMark + flag)],
  }));
  // Nothing reads the column `flags`. We must write it until a migration lets it be null.
  await sql`
    insert into person_words as w (user_id, words, flags)
      select r.id, array_to_tsvector(r.words), ''
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id uuid, words text[])
    on conflict (user_id) do update set words = excluded.words where w.words is distinct from excluded.words`.execute(
    trx,
  );
}

export type Hit = Pick<
  User,
  'id' | 'email' | 'name' | 'role' | 'frozenAt' | 'suspendedAt' | 'deletionDueAt' | 'emailVerifiedAt'
> & { account: string };

export type PersonFilters = { role?: InternalRole; state?: FilterState };

const hitColumns = sql`u.id, u.email, u.name, a.name as account, u.role, u.frozen_at as "frozenAt",
  u.suspended_at as "suspendedAt", u.deletion_due_at as "deletionDueAt", u.email_verified_at as "emailVerifiedAt"`;

/**
 * The filters use the person's own rows, because the words may be some seconds old. `offset 0` makes Postgres look up one person
 * after another until there are enough, instead of scanning everybody.
 */
const joinHit = ({ role, state }: PersonFilters) => sql`
  cross join lateral (
    select ${hitColumns} from users u join accounts a on a.id = u.account_id
      where u.id = w.user_id and ${role ? sql`u.role = ${role}` : sql`true`} and ${state ? isIn[state] : sql`true`}
      offset 0
  ) hit`;

const columns = sql`hit.id, hit.email, hit.name, hit.account, hit.role, hit."frozenAt", hit."suspendedAt",
  hit."deletionDueAt", hit."emailVerifiedAt"`;

/** Counts at most `limit` people. The count may be some seconds old. */
export const countPeopleIn = (db: Database, state: FilterState, limit: number): Promise<number> =>
  countUpTo(db, limit, sql`from person_words where words @@ ${toQuery([], { state })}::tsquery`);

export const listNewest = (db: Database, limit: number): Promise<Hit[]> =>
  run(
    db,
    sql`
    select ${hitColumns} from users u join accounts a on a.id = u.account_id order by u.id desc limit ${sql.lit(limit)}`,
  );

/** What the search text as a whole may be, such as an email address or an id. */
export type WholeKeys = {
  text: string;
  email: string | undefined;
  userId: string | undefined;
  invoiceNumber: string | undefined;
  provider: string;
  now: Date;
};

export function findByWhole(
  db: Database,
  { text, email, userId, invoiceNumber, provider, now }: WholeKeys,
  filters: PersonFilters,
  limit: number,
): Promise<Hit[]> {
  return run(
    db,
    sql`
    select ${columns} from (
      select id as user_id from users where email = ${email ?? null} and holds_email
      union (select id from users where email = ${email ?? null} and not holds_email limit ${sql.lit(limit)})
      union select user_id from reserved_addresses where email = ${email ?? null} and expires_at > ${now}
      union select ${userId ?? null}::uuid
      union select user_id from external_links where provider = ${provider} and external_id = ${text}
      union select user_id from service_contracts where signup_id = ${text}
      union select c.user_id from invoices i join service_contracts c on c.id = i.contract_id
        where i.number = ${invoiceNumber ?? null}::bigint and i.document is null
      union select c.user_id from documents d join invoices i on i.number = d.invoice
        join service_contracts c on c.id = i.contract_id where d.number = upper(${text})
    ) w ${joinHit(filters)} order by hit.id desc limit ${sql.lit(limit)}`,
  );
}

/**
 * Matches rows that have all of the flags and a word for each beginning. Words are letters and digits, so they contain no quote.
 */
const toQuery = (words: readonly string[], { role, state }: PersonFilters) =>
  [
    ...words.map((word) => `'${word}':*`),
    ...[role, state].flatMap((flag) => (flag ? [`'${flagMark}${flag}'`] : [])),
  ].join(' & ');

/** Looks only through the newest people. */
export function findAmongNewest(
  db: Database,
  words: readonly string[],
  filters: PersonFilters,
  { newest, limit }: { newest: number; limit: number },
): Promise<Hit[]> {
  return run(
    db,
    sql`
    select ${columns} from (
      select user_id, words from person_words order by user_id desc limit ${sql.lit(newest)}
    ) w ${joinHit(filters)} where w.words @@ ${toQuery(words, filters)}::tsquery
    order by w.user_id desc limit ${sql.lit(limit)}`,
  );
}

// A common word makes the index slow, and two words are enough to tell people apart.
const maxAsked = 2;

/**
 * Uses the index for the filters and the first words. Then looks for the other words in the rows that the index found. The order
 * is arbitrary.
 */
export async function findByTerms(
  trx: Transaction<DB>,
  words: readonly string[],
  filters: PersonFilters,
  limit: number,
): Promise<Hit[]> {
  // If Postgres expected the words to be common, it would scan the rows of all people.
  void connectionOf(trx).query('set local enable_seqscan = off', []);
  return run(
    trx,
    sql`
    select ${columns} from (
      select user_id, words from person_words
        where words @@ ${toQuery(words.slice(0, maxAsked), filters)}::tsquery offset 0
    ) w ${joinHit(filters)} where w.words @@ ${toQuery(words, filters)}::tsquery limit ${sql.lit(limit)}`,
  );
}

const run = async (db: Database, statement: RawBuilder<unknown>): Promise<Hit[]> =>
  (await (statement as RawBuilder<Hit>).execute(db)).rows;

// Reads what happened to a person: audit events, and changes without an event. This file only reads.
// An audit event and the changes of its transaction have the same time, to the microsecond: the start of the transaction. So a
// change belongs to the event whose time is the `began_at` of the change.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { Change } from './changes.ts';

const prefix = 'change-';
const isChange = (id: string) => id.startsWith(prefix);
const numberOf = (id: string) => id.slice(prefix.length);

export type ActivityLine = {
  /** The id of an event. For a change without an event, it is `change-` and the number of the transaction's first change. */
  id: string;
  at: Date;
  /** The type of an event. Null for a change. */
  type: string | null;
  reason: string | null;
  device: string | null;
  place: string | null;
  details: Record<string, unknown> | null;
};

export type WhoseActivity = {
  userId: string;
  accountId: string;
  types: string[];
  withContracts: boolean;
};

type SomeActivity = WhoseActivity & { after: Date; limit: number };

/** Returns the newest lines first. `before` is the id of a line, and only earlier lines are returned. */
export async function listActivity(
  db: Database,
  { before, ...some }: SomeActivity & { before?: string },
): Promise<ActivityLine[]> {
  const last = before === undefined ? undefined : await findPosition(db, some, before);
  if (before !== undefined && !last) return [];
  return (await selectActivity({ ...some, last }).execute(db)).rows;
}

/** `at` is text, because a JavaScript Date has no microseconds. */
type Position = { id: string; at: string };

/**
 * Selects the newest audit events, and the newest transactions of each source of changes, at most `limit` of each. Then selects
 * the newest of all these events and transactions.
 */
export function selectActivity({
  after,
  last,
  limit,
  ...whose
}: SomeActivity & { last?: Position }): RawBuilder<ActivityLine> {
  const { userId, types } = whose;
  const within = (at: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
    last
      ? sql`${at} > ${after} and ${at} <= ${last.at}::timestamptz
        and (${at} < ${last.at}::timestamptz or ${id} collate "C" < ${last.id})`
      : sql`${at} > ${after}`;
  const transactions = listSources(whose).map(
    (isTheirs) => sql`(
      select c.began_at as at, min(c.id) as first from changes c where ${isTheirs('c')}
      group by c.began_at having ${within(sql`c.began_at`, sql`(${sql.lit(prefix)} || min(c.id))`)}
      order by c.began_at desc limit ${limit})`,
  );
  return sql<ActivityLine>`
    select * from (
      (select e.id::text collate "C" as id, e.at, e.type, e.reason, ${own('device')} as device,
        ${own('place')} as place, e.details
      from audit_events e where e.user_id = ${userId} and e.type = any(${types}) and ${within(sql`e.at`, sql`e.id::text`)}
      order by e.at desc, e.id desc limit ${limit})
      union all
      select (${sql.lit(prefix)} || t.first) collate "C", t.at, null, null, null, null, null
      from (${sql.join(transactions, sql` union all `)}) t where not ${isTold(whose)}
    ) line
    order by at desc, id desc limit ${limit}`;
}

/** A person must not see the browser of a staff member. */
const own = (column: 'device' | 'place') =>
  sql`case when e.type not like 'staff.%' then ${sql.ref(`e.${column}`)} end`;

/**
 * Changes about the person and their account. Changes with the cause `sources` only note who decided a right, so they are hidden.
 */
function listSources({ userId, accountId, withContracts }: WhoseActivity) {
  const columnsOf = (alias: string) => (name: string) => sql.ref(`${alias}.${name}`);
  return [
    (alias: string) => {
      const column = columnsOf(alias);
      const contracts = withContracts ? sql`` : sql`and ${column('subject')} <> 'contract'`;
      return sql`${column('user_id')} = ${userId} ${contracts} and ${column('kind')} <> 'found'
        and ${column('cause')} is distinct from 'sources'`;
    },
    (alias: string) => {
      const column = columnsOf(alias);
      return sql`${column('subject')} = 'account' and ${column('row_id')} = ${accountId}
        and ${column('kind')} <> 'found' and ${column('cause')} is distinct from 'sources'`;
    },
  ];
}

/** Returns whether the transaction `t` is already shown, as an audit event or as an earlier change. */
function isTold(whose: WhoseActivity): RawBuilder<unknown> {
  const earlier = listSources(whose).map(
    (isTheirs) => sql`exists (
      select from changes o where ${isTheirs('o')} and o.began_at = t.at and o.id < t.first)`,
  );
  return sql`(
    exists (select from audit_events e
      where e.user_id = ${whose.userId} and e.at = t.at and e.type = any(${whose.types}))
    or ${sql.join(earlier, sql` or `)})`;
}

/** Returns undefined if the line belongs to another person. */
async function findPosition(
  db: Database,
  { userId, accountId }: WhoseActivity,
  id: string,
): Promise<Position | undefined> {
  const instant = isChange(id)
    ? sql<Position>`select began_at::text as at from changes where id = ${numberOf(id)}
        and (user_id = ${userId} or (subject = 'account' and row_id = ${accountId}))`
    : sql<Position>`select at::text from audit_events where id = ${id} and user_id = ${userId}`;
  const [row] = (await instant.execute(db)).rows;
  return row && { id, at: row.at };
}

export type LineChange = Pick<Change, 'subject' | 'kind' | 'members' | 'by' | 'byUser'> & {
  id: string;
  /** The first audit event of the same transaction. */
  eventId: string | null;
  beganAt: string;
};

export async function listChangesOfLines(
  db: Database,
  whose: WhoseActivity,
  lineIds: string[],
): Promise<LineChange[]> {
  const { userId, types } = whose;
  const eventIds = lineIds.filter((id) => !isChange(id));
  const changeIds = lineIds.filter(isChange).map(numberOf);
  const changes = listSources(whose).map(
    (isTheirs) => sql`
      select c.id, c.subject, c.kind, c.members, c.by, c.by_user as "byUser", c.began_at::text as "beganAt", (
        select e.id::text from audit_events e
          where e.user_id = ${userId} and e.at = c.began_at and e.type = any(${types}) order by e.id limit 1
      ) as "eventId"
      from changes c where ${isTheirs('c')} and c.began_at = any (array(
        select e.at from audit_events e where e.id = any(${eventIds}::uuid[])
        union all select s.began_at from changes s where s.id = any(${changeIds}::bigint[])))`,
  );
  const { rows } = await sql<LineChange>`${sql.join(changes, sql` union all `)} order by id`.execute(db);
  return rows;
}

/**
 * Returns what changed when the user last connected an account after `since`. Returns undefined if they connected no account, or
 * if an earlier version recorded the event.
 */
export async function findConnectChanges(db: Database, userId: string, since: Date): Promise<unknown> {
  const { rows } = await sql<{ members: unknown }>`
    select details -> 'members' as members from audit_events
      where user_id = ${userId} and at > ${since} and type = 'hand_off.confirmed' and reason = 'connect'
      order by at desc, id desc limit 1`.execute(db);
  return rows[0]?.members ?? undefined;
}

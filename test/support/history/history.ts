// What tests ask of the history: who changed what, and whether the history has every row as it is, and as it was.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { type Change, type Row, type Subject, selectTracked, tracked } from '../../../db/tables/changes.ts';
import { replay } from '../../../server/identity/history/history.ts';
import { connect, withOptions } from '../database/postgres.ts';

/** Every change, oldest first. */
export async function listChanges(db: Database): Promise<Change[]> {
  const { rows } = await sql<Change>`
    select id::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, subject, row_id as "rowId",
      user_id as "userId", account_id as "accountId", kind, members, by, by_user as "byUser", request_id as "requestId",
      cause, role
    from changes order by changes.at, changes.id`.execute(db);
  return rows;
}

/** The changes in few words, oldest first: `user changed name, name_edited_at by person`. */
export const summarize = (changes: Change[]): string[] =>
  changes.map(({ subject, kind, members, by }) =>
    [subject, kind, Object.keys(members ?? { erased: null }).join(', '), `by ${by}`].join(' '),
  );

/** Connects in UTC, because the texts of times differ in another time zone. */
export const connectInUtc = (url: string) =>
  connect(withOptions(url, '-c timezone=UTC'), { statementTimeoutMs: 60_000 });

const subjects = Object.keys(tracked) as Subject[];

const keys: Record<Subject, string> = {
  user: 't.id::text',
  account: 't.id::text',
  link: "t.provider || ':' || t.external_id",
  contract: 't.id::text',
};

export type KnownRow = { subject: Subject; key: string; row: Row };

/** Needs a connection of `connectInUtc`. */
async function readRows(db: Database, subject: Subject, clauses = ''): Promise<KnownRow[]> {
  const { rows } = await sql<{ key: string; row: Row }>`
    select ${sql.raw(keys[subject])} as key, ${selectTracked(subject)} as row
    from ${sql.table(tracked[subject].table)} t ${sql.raw(clauses)}`.execute(db);
  return rows.map((each) => ({ subject, ...each }));
}

export type Snapshot = { at: string; rows: KnownRow[] };

/**
 * Returns some rows of one table, and an instant at which the rows were like this. The rows stay locked until the instant is
 * known, so other transactions wait.
 */
export const takeSnapshot = (db: Database, pick: number): Promise<Snapshot> =>
  inTransaction(db, { by: 'service', cause: 'snapshot' }, async (trx) => {
    const subject = subjects[Math.floor(pick * subjects.length)] ?? 'user';
    const rows = await readRows(trx, subject, 'order by random() limit 8 for share');
    const clock = await sql<{ at: string }>`
      select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`.execute(
      trx,
    );
    return { at: clock.rows[0]?.at ?? '', rows };
  });

/**
 * Returns the faults of the history, in words. Needs a connection of `connectInUtc`. Call this after all changes have ended.
 */
export async function checkHistory(db: Database, snapshots: Snapshot[] = []): Promise<string[]> {
  const changes = await listChanges(db);
  const faults = [...findFaultsOfOrder(changes)];
  const present = replay(changes);
  const rows = (await Promise.all(subjects.map((subject) => readRows(db, subject)))).flat();
  for (const known of rows) faults.push(...compare(known, present, 'now'));
  const names = new Set(rows.map(nameOf));
  for (const name of present.keys()) if (!names.has(name)) faults.push(`${name} is not there any more`);

  const ofRow = new Map<string, Change[]>();
  for (const change of changes) {
    const name = `${change.subject} ${change.rowId}`;
    ofRow.set(name, [...(ofRow.get(name) ?? []), change]);
  }
  const erased = new Set(
    changes.filter(({ members }) => !members).map(({ subject, rowId }) => `${subject} ${rowId}`),
  );
  for (const { at, rows: then } of snapshots)
    for (const known of then) {
      // The history says nothing about people who were erased since.
      const owner = known.subject === 'link' ? `user ${known.row.user_id}` : nameOf(known);
      if (erased.has(owner)) continue;
      const before = (ofRow.get(nameOf(known)) ?? []).filter((change) => change.at <= at);
      faults.push(...compare(known, replay(before), at));
    }
  return faults;
}

const nameOf = ({ subject, key }: KnownRow) => `${subject} ${key}`;

function compare(known: KnownRow, replayed: ReadonlyMap<string, Row>, when: string): string[] {
  const found = replayed.get(nameOf(known));
  const [is, said] = [known.row, found ?? {}].map((row) =>
    JSON.stringify(Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1))),
  );
  return is === said ? [] : [`${nameOf(known)} at ${when}: is ${is}, the history says ${found && said}`];
}

/** Returns the faults of order: each change must begin with the values that the change before it left, and be later. */
function* findFaultsOfOrder(changes: Change[]): Generator<string> {
  const last = new Map<string, Change>();
  for (const change of changes) {
    const name = `${change.subject} ${change.rowId}`;
    const before = last.get(name);
    last.set(name, change);
    // An erased row has lost its id if the id was a person's.
    if (change.rowId === null) continue;
    if (before && before.at >= change.at) yield `${name} changed twice at ${change.at}`;
    if (!before?.members || !change.members || before.kind === 'removed') continue;
    const row = replay([before]).get(name) ?? {};
    for (const member of Object.keys(before.members).filter((each) => change.members?.[each]))
      if (JSON.stringify(change.members[member]?.from) !== JSON.stringify(row[member] ?? null))
        yield `${name}: ${member} at ${change.at} does not begin where it ended before`;
  }
}

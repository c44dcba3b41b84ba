// The only writer of `launches`: the first launch of each session to each client.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';

type Launch = { sessionId: string; client: string; sid: string };

const buildInsert = (db: Database, launch: Launch, isPatient: boolean) =>
  db
    .insertInto('launches')
    .columns(['session_id', 'user_id', 'client', 'sid'])
    .expression(({ selectFrom }) => {
      const found = selectFrom('users as u')
        .innerJoin('sessions as s', 's.user_id', 'u.id')
        .select(['s.id', 'u.id as user_id'])
        .select([
          sql<string>`${launch.client}::text`.as('client'),
          sql<string>`${launch.sid}::text`.as('sid'),
        ])
        .where('s.id', '=', launch.sessionId)
        .where('s.ended_at', 'is', null)
        .forShare(['u', 's']);
      return isPatient ? found : found.noWait();
    })
    // With "do nothing" instead, `returning` would give a second caller no row.
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'client']).doUpdateSet({ sid: sql`launches.sid` }),
    )
    .returning('sid');

const insertLaunch = prepare((db, launch: Launch) => buildInsert(db, launch, true));
const tryInsertLaunch = prepare((db, launch: Launch) => buildInsert(db, launch, false));

/**
 * Returns the session's `sid` at that client, which is the same for all callers. Returns undefined if the session has ended or
 * its user is gone. Locks the user and then the session, so that neither changes or ends before the launch is committed.
 */
export async function recordLaunch(trx: Transaction<DB>, launch: Launch): Promise<string | undefined> {
  return (await insertLaunch(trx, launch))[0]?.sid;
}

/** Records a launch outside a transaction. Throws SQLSTATE 55P03 instead of waiting for a locked user or session. */
export async function tryRecordLaunch(db: Database, launch: Launch): Promise<string | undefined> {
  return (await tryInsertLaunch(db, launch))[0]?.sid;
}

/** Returns the time of the user's newest launch record for each client. */
export async function listLastLaunches(
  db: Database,
  userId: string,
): Promise<{ client: string; at: Date }[]> {
  return db
    .selectFrom('launches')
    .select(({ fn }) => ['client', fn.max('at').as('at')])
    .where('user_id', '=', userId)
    .groupBy('client')
    .execute();
}

/** Returns the clients that the user ever went to. A trigger of `launches` maintains this list. */
export async function listVisitedClients(db: Database, userId: string): Promise<string[]> {
  const rows = await db.selectFrom('client_users').select('client').where('user_id', '=', userId).execute();
  return rows.map(({ client }) => client);
}

/** Reads the whole table, so this is for operators and not for requests. */
export async function listLastLaunchesOfClients(db: Database): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('launches')
    .select(({ fn }) => ['client', fn.max('at').as('at')])
    .groupBy('client')
    .execute();
  return new Map(rows.map(({ client, at }) => [client, at]));
}

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
    // Not "do nothing": that would return no row to a second caller.
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'client']).doUpdateSet({ sid: sql`launches.sid` }),
    )
    .returning('sid');

const insertLaunch = prepare((db, launch: Launch) => buildInsert(db, launch, true));
const tryInsertLaunch = prepare((db, launch: Launch) => buildInsert(db, launch, false));

/**
 * The result is the `sid` of that session at that client, whichever caller was first; undefined if the session has ended or its
 * user is gone. The user is locked before the session, as everywhere; the trigger that tells the client of the first launch
 * needs that, too. So a change or an end of user or session comes before this launch, or after its commit.
 */
export async function recordLaunch(trx: Transaction<DB>, launch: Launch): Promise<string | undefined> {
  return (await insertLaunch(trx, launch))[0]?.sid;
}

/**
 * The same in a statement of its own, which does not wait for a user or session that another transaction has locked: throws
 * SQLSTATE 55P03 then.
 */
export async function tryRecordLaunch(db: Database, launch: Launch): Promise<string | undefined> {
  return (await tryInsertLaunch(db, launch))[0]?.sid;
}

/** When the user was first handed to each client in their newest session there. */
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

/** The clients to which the user was ever handed. A trigger of `launches` keeps them. */
export async function listVisitedClients(db: Database, userId: string): Promise<string[]> {
  const rows = await db.selectFrom('client_users').select('client').where('user_id', '=', userId).execute();
  return rows.map(({ client }) => client);
}

/** The last launch to each client. Reads the whole table: for an operator, not for a request. */
export async function listLastLaunchesOfClients(db: Database): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('launches')
    .select(({ fn }) => ['client', fn.max('at').as('at')])
    .groupBy('client')
    .execute();
  return new Map(rows.map(({ client, at }) => [client, at]));
}

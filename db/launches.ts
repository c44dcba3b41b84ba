// The only writer of `launches`: the first launch of each session to each client.
import { sql } from 'kysely';
import type { Database } from './postgres/client.ts';

/** Committed when this resolves. The result is the `sid` of that session at that client, whoever was first. */
export async function recordLaunch(
  db: Database,
  launch: { sessionId: string; userId: string; client: string; sid: string },
): Promise<string> {
  const row = await db
    .insertInto('launches')
    .values({
      session_id: launch.sessionId,
      user_id: launch.userId,
      client: launch.client,
      sid: launch.sid,
    })
    // Not "do nothing": that would return no row to whoever was second.
    .onConflict((conflict) =>
      conflict.columns(['session_id', 'client']).doUpdateSet({ sid: sql`launches.sid` }),
    )
    .returning('sid')
    .executeTakeFirstOrThrow();
  return row.sid;
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

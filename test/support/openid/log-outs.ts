// Rows of clients and log-outs, without the service.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { TestApp } from '../app/app.ts';
import { addPerson, addSession } from '../people/staff.ts';

type At = Pick<TestApp, 'db'>;

let serial = 0;

/** A row of kind `openid`. Its secrets are left out, because only the service reads them. */
export async function addRow(
  { db }: At,
  {
    name = `wiki_${++serial}`,
    roles = ['admin', 'merchant', 'customer'],
    issuer = 'http://localhost:3000',
  } = {},
  backChannelUri: string | null = 'http://localhost:9/out',
) {
  const id = randomUUID();
  await sql`insert into clients (id, issuer, name, kind, title, callback_url, listed, roles, needs_factor, redirect_uris,
      post_logout_uris, back_channel_uri, pkce, auth, restores, created_at, changed_at)
    values (${id}, ${issuer}, ${name}, 'openid', ${name}, 'http://localhost:9/cb', '{}', ${roles}::text[], false,
      '{http://localhost:9/cb}', '{}', ${backChannelUri}, 'required', 'secret', 0, now(), now())`.execute(db);
  return { id, name };
}

/** A session, and its launch to each client, `daysAgo` days ago. */
export async function addLaunch(
  app: At,
  userId: string,
  clients: readonly { name: string }[],
  { daysAgo = 0 } = {},
) {
  const config = { issuer: 'http://localhost:3000' } as TestApp['config'];
  const { sessionId, cookie } = await addSession({ ...app, config }, userId);
  const sids = clients.map(() => randomUUID());
  for (const [at, { name }] of clients.entries())
    await sql`insert into launches (session_id, client, user_id, sid, at) values (${sessionId}, ${name}, ${userId}, ${sids[at]},
      now() - make_interval(days => ${daysAgo}))`.execute(app.db);
  return { sessionId, cookie, sid: sids[0] ?? '', sids };
}

export async function addVisitor(
  app: At,
  clients: readonly { name: string }[],
  given: Parameters<typeof addLaunch>[3] = {},
) {
  const person = await addPerson(app);
  return { ...person, ...(await addLaunch(app, person.id, clients, given)) };
}

/**
 * Returns the planned log-outs of the client, the oldest first: the `sid` of the login, or null if all logins of the person
 * end.
 */
export async function listPlanned({ db }: At, { id }: { id: string }): Promise<(string | null)[]> {
  const { rows } = await sql<{ sid: string | null }>`
    select sid from log_outs where client_id = ${id} order by made_at, sid nulls last`.execute(db);
  return rows.map(({ sid }) => sid);
}

/** Changes somebody's role, as an act of staff would. */
export const setRole = ({ db }: At, id: string, role: string) =>
  inTransaction(db, { by: 'operator', cause: 'test' }, (trx) =>
    sql`update users set role = ${role} where id = ${id}`.execute(trx),
  );

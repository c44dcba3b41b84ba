// The only writer of `oidc_grants`: the access that people gave to clients of OpenID Connect. A grant begins with a code. The
// client exchanges the code one time for an access token. The end of the session ends the code and the token. If a client is
// turned off, its grants are deleted (db/schema.sql).
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';
import type { SessionLimits } from './sessions.ts';
import { toUser, type User, userColumns } from './users.ts';

export type Grant = {
  id: string;
  /** The id of the client's row. */
  clientId: string;
  redirectUri: string;
  scope: string[];
  nonce: string | null;
  challenge: string | null;
  createdAt: Date;
  exchangedAt: Date | null;
  sessionId: string;
  sessionCreatedAt: Date;
  authTime: Date | null;
  amr: string[];
  user: User;
};

type NewGrant = Pick<
  Grant,
  'id' | 'clientId' | 'sessionId' | 'redirectUri' | 'scope' | 'nonce' | 'challenge'
> & {
  codeHash: Uint8Array;
  now: Date;
};

const insert = prepare((db, grant: NewGrant) =>
  db
    .insertInto('oidc_grants')
    .columns([
      ...(['id', 'client_id', 'session_id', 'code_hash', 'redirect_uri', 'scope'] as const),
      ...(['nonce', 'challenge', 'created_at'] as const),
    ])
    .expression(({ selectFrom }) =>
      selectFrom('sessions as s')
        .select([
          sql<string>`${grant.id}::uuid`.as('id'),
          sql<string>`${grant.clientId}::uuid`.as('client_id'),
          's.id as session_id',
          sql<Uint8Array>`${grant.codeHash}::bytea`.as('code_hash'),
          sql<string>`${grant.redirectUri}::text`.as('redirect_uri'),
          sql<string[]>`${grant.scope}::text[]`.as('scope'),
          sql<string | null>`${grant.nonce}::text`.as('nonce'),
          sql<string | null>`${grant.challenge}::text`.as('challenge'),
          sql<Date>`${grant.now}::timestamptz`.as('created_at'),
        ])
        .where('s.id', '=', grant.sessionId)
        .where('s.ended_at', 'is', null)
        // A new grant refers to its session, which takes this lock in any case. If the person is being erased, this waits for
        // the erasure and then finds no session.
        .forKeyShare(),
    )
    .returning('id'),
);

/** Returns false if the session has ended. */
export const insertGrant = async (db: Database, grant: NewGrant): Promise<boolean> =>
  (await insert(db, grant)).length === 1;

/** Finds only grants of live sessions. A suspended person has no live session. */
const selectGrants = (db: Database, limits: SessionLimits) =>
  db
    .selectFrom('oidc_grants as g')
    .innerJoin('sessions as s', 's.id', 'g.session_id')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select([
      'g.id as grantId',
      'g.client_id as clientId',
      'g.redirect_uri as redirectUri',
      'g.scope',
      'g.nonce',
    ])
    .select(['g.challenge', 'g.created_at as grantedAt', 'g.exchanged_at as exchangedAt'])
    .select(['s.id as sessionId', 's.created_at as sessionCreatedAt', 's.auth_time as authTime', 's.amr'])
    .select(userColumns)
    .where('s.ended_at', 'is', null)
    .where('s.created_at', '>', limits.createdAfter)
    .where('s.last_seen_at', '>', limits.seenAfter);

const selectByCode = prepareRead((db, values: SessionLimits & { codeHash: Uint8Array }) =>
  selectGrants(db, values).where('g.code_hash', '=', values.codeHash),
);

/** A session has at most five working access tokens at one client: the newest ones. */
const isOfNewest = sql<boolean>`not exists (
  select from oidc_grants n where n.session_id = g.session_id and n.client_id = g.client_id
    and (n.exchanged_at, n.id) > (g.exchanged_at, g.id) offset 4)`;

const selectByToken = prepareRead(
  (db, values: SessionLimits & { tokenHash: Uint8Array; exchangedAfter: Date }) =>
    selectGrants(db, values)
      .where('g.token_hash', '=', values.tokenHash)
      .where('g.exchanged_at', '>', values.exchangedAfter)
      .where(isOfNewest),
);

function toGrant(row: Awaited<ReturnType<typeof selectByCode>>[number] | undefined): Grant | undefined {
  if (!row) return undefined;
  const { grantId, clientId, redirectUri, scope, nonce, challenge, grantedAt, exchangedAt, ...rest } = row;
  const { sessionId, sessionCreatedAt, authTime, amr, ...user } = rest;
  return {
    ...{ id: grantId, clientId, redirectUri, scope, nonce, challenge, createdAt: grantedAt, exchangedAt },
    ...{ sessionId, sessionCreatedAt, authTime, amr, user: toUser(user) },
  };
}

export const findGrantByCode = async (
  read: Reader,
  codeHash: Uint8Array,
  limits: SessionLimits,
): Promise<Grant | undefined> => toGrant((await selectByCode(read, { codeHash, ...limits }))[0]);

export const findGrantByToken = async (
  read: Reader,
  found: { tokenHash: Uint8Array; exchangedAfter: Date },
  limits: SessionLimits,
): Promise<Grant | undefined> => toGrant((await selectByToken(read, { ...found, ...limits }))[0]);

const exchange = prepare((db, values: { id: string; tokenHash: Uint8Array; now: Date }) =>
  db
    .updateTable('oidc_grants')
    .set({ token_hash: values.tokenHash, exchanged_at: values.now })
    .where('id', '=', values.id)
    .where('exchanged_at', 'is', null)
    .returning('id'),
);

/** Returns false if the code has been used. */
export const exchangeCode = async (
  db: Database,
  values: { id: string; tokenHash: Uint8Array; now: Date },
): Promise<boolean> => (await exchange(db, values)).length === 1;

export async function deleteGrant(db: Database, id: string): Promise<void> {
  await db.deleteFrom('oidc_grants').where('id', '=', id).execute();
}

export async function deleteAllGrants(db: Database): Promise<void> {
  await db.deleteFrom('oidc_grants').execute();
}

// The only writer of `pending_hand_offs`: inbound hand-offs that wait for a click in the same browser. The token is in a cookie
// of that browser, and only its hash is stored.
import type { Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareDeferred } from '../postgres/prepare.ts';
import type { DB } from '../schema.ts';
import { toUser, type User, userColumns } from './users.ts';

/** `continue` starts a session of the linked user. `connect` links the user who has logged in. */
export type PendingKind = 'continue' | 'connect';

export type PendingHandOff = {
  kind: PendingKind;
  provider: string;
  externalId: string;
  /** The owner of the account that the hand-off is about. */
  userId: string;
  nonce: string;
  /** The profile as it was received. */
  profile: object;
  /** A path of this service. */
  returnTo: string;
};

type Row = Omit<PendingHandOff, 'profile'> & {
  id: string;
  tokenHash: Uint8Array;
  profile: string;
  expiresAt: Date;
};

const insert = prepareDeferred((db, row: Row) =>
  db.insertInto('pending_hand_offs').values({
    id: row.id,
    token_hash: row.tokenHash,
    kind: row.kind,
    provider: row.provider,
    external_id: row.externalId,
    user_id: row.userId,
    nonce: row.nonce,
    profile: row.profile,
    return_to: row.returnTo,
    expires_at: row.expiresAt,
  }),
);

export function deferPendingHandOff(
  trx: Transaction<DB>,
  pending: PendingHandOff & { id: string; tokenHash: Uint8Array; expiresAt: Date },
): void {
  insert(trx, { ...pending, profile: JSON.stringify(pending.profile) });
}

export type PendingKey = { id: string; tokenHash: Uint8Array };

export async function findPendingHandOff(
  db: Database,
  { id, tokenHash }: PendingKey,
  now: Date,
): Promise<{ kind: PendingKind; externalId: string; profile: unknown; user: User } | undefined> {
  const row = await db
    .selectFrom('pending_hand_offs as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .select(['p.kind', 'p.external_id as externalId', 'p.profile'])
    .select(userColumns)
    .where('p.id', '=', id)
    .where('p.token_hash', '=', tokenHash)
    .where('p.expires_at', '>', now)
    .executeTakeFirst();
  if (!row) return undefined;
  const { kind, externalId, profile, ...user } = row;
  return { kind, externalId, profile, user: toUser(user) };
}

/** `keys` are from this browser's cookies. */
export async function findPendingIdByNonce(
  db: Database,
  nonce: string,
  keys: PendingKey[],
  now: Date,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('pending_hand_offs')
    .select(['id', 'token_hash as tokenHash'])
    .where('nonce', '=', nonce)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return keys.find(
    ({ id, tokenHash }) => row?.id === id && row.tokenHash.every((byte, at) => byte === tokenHash[at]),
  )?.id;
}

/** Gives the hand-off to only one caller. */
export async function consumePendingHandOff(
  db: Database,
  { id, tokenHash }: PendingKey,
  now: Date,
): Promise<PendingHandOff | undefined> {
  const row = await db
    .deleteFrom('pending_hand_offs')
    .where('id', '=', id)
    .where('token_hash', '=', tokenHash)
    .where('expires_at', '>', now)
    .returning([
      'kind',
      'provider',
      'external_id as externalId',
      'user_id as userId',
      'nonce',
      'profile',
      'return_to as returnTo',
    ])
    .executeTakeFirst();
  return row && { ...row, profile: row.profile as object };
}

export async function deletePendingHandOff(db: Database, { id, tokenHash }: PendingKey): Promise<void> {
  await db.deleteFrom('pending_hand_offs').where('id', '=', id).where('token_hash', '=', tokenHash).execute();
}

export async function deletePendingHandOffs(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('pending_hand_offs').where('user_id', '=', userId).execute();
}

export async function deleteAllPendingHandOffs(db: Database): Promise<number> {
  return Number((await db.deleteFrom('pending_hand_offs').executeTakeFirst()).numDeletedRows);
}

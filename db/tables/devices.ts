// The only writer of `devices`: which user has logged in with which browser. A browser is known by the hash of the token in its
// device cookie.
import { sql, type Transaction } from 'kysely';
import { runByKeyRanges } from '../key-ranges.ts';
import type { Database } from '../postgres/client.ts';
import { prepare, prepareDeferred, prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';
import type { DB } from '../schema.ts';
import { isHeld } from './users.ts';

const move = prepareDeferred((db, { from, to }: { from: Uint8Array; to: Uint8Array }) =>
  db.updateTable('devices').set({ token_hash: to, is_last: false }).where('token_hash', '=', from),
);

type Login = {
  tokenHash: Uint8Array;
  userId: string;
  now: Date;
  credentialAt: Date | null;
  firstCredentialAt: Date | null;
};

const upsert = prepareDeferred((db, values: Login) =>
  db
    .insertInto('devices')
    .values({
      token_hash: values.tokenHash,
      user_id: values.userId,
      last_login_at: values.now,
      known_since: values.credentialAt,
      first_credential_at: values.firstCredentialAt,
      is_last: true,
    })
    .onConflict((conflict) =>
      conflict.columns(['token_hash', 'user_id']).doUpdateSet({
        last_login_at: sql`excluded.last_login_at`,
        // A later login keeps this instant, because a new instant would start a new allowance of tries. A device that the user
        // had forgotten gets a new instant.
        known_since: sql`coalesce(
          case when devices.forgotten_at is null then devices.known_since end, excluded.known_since)`,
        // A device is established immediately if this instant equals `known_since`. If the user had forgotten the device, the
        // two instants are made to differ, so the device is not established immediately.
        first_credential_at: sql`coalesce(
          case when devices.forgotten_at is null then devices.first_credential_at
            else nullif(coalesce(devices.first_credential_at, devices.known_since), excluded.known_since) end,
          excluded.first_credential_at)`,
        is_last: true,
        forgotten_at: null,
      }),
    ),
);

/**
 * `credentialAt` is null for a hand-off. If the user never gave a credential before, `firstCredentialAt` equals `credentialAt`.
 */
export function deferDeviceLogin(
  trx: Transaction<DB>,
  { previousHash, ...login }: Login & { previousHash: Uint8Array | undefined },
): void {
  if (previousHash) move(trx, { from: previousHash, to: login.tokenHash });
  upsert(trx, login);
}

/** Records that a credential was given in a session that a hand-off started. From then on the user knows the device. */
export async function recordDeviceCredential(
  db: Database,
  { tokenHash, userId, now }: { tokenHash: Uint8Array; userId: string; now: Date },
): Promise<void> {
  await db
    .updateTable('devices')
    .set({ known_since: now })
    .where('token_hash', '=', tokenHash)
    .where('user_id', '=', userId)
    .where('known_since', 'is', null)
    .where('forgotten_at', 'is', null)
    .execute();
}

/** Returns the last user who logged in on that device, or undefined if they have forgotten it. */
export async function findLastUserOfDevice(db: Database, tokenHash: Uint8Array): Promise<string | undefined> {
  const row = await db
    .selectFrom('devices')
    .select('user_id as userId')
    .where('token_hash', '=', tokenHash)
    .where(sql<boolean>`is_last`)
    .where('forgotten_at', 'is', null)
    .executeTakeFirst();
  return row?.userId;
}

/** Returns whether the user has logged in on this device, only on other devices, or on none. */
export async function findDeviceUse(
  db: Database,
  userId: string,
  tokenHash: Uint8Array,
): Promise<'this' | 'others' | 'none'> {
  const [row] = await selectUse(db, { userId, tokenHash });
  return row === undefined ? 'none' : row.isThis ? 'this' : 'others';
}

// Puts the row of this browser first.
const selectUse = prepare((db, values: { userId: string; tokenHash: Uint8Array }) =>
  db
    .selectFrom('devices')
    .select(({ eb }) => eb('token_hash', '=', values.tokenHash).as('isThis'))
    .where('user_id', '=', values.userId)
    .orderBy('isThis', 'desc')
    .limit(1),
);

const selectHolderOfDevice = prepareRead((db, values: { email: string; tokenHash: Uint8Array }) =>
  db
    .selectFrom('devices as d')
    .innerJoin('users as u', 'u.id', 'd.user_id')
    .select(['d.user_id as userId', 'd.known_since as knownSince'])
    .where('d.token_hash', '=', values.tokenHash)
    .where('d.forgotten_at', 'is', null)
    .where((is) =>
      is.or([
        is.and([is('u.email', '=', values.email), isHeld]),
        is(
          'u.id',
          'in',
          is.selectFrom('reserved_addresses').select('user_id').where('email', '=', values.email),
        ),
      ]),
    ),
);

/**
 * Finds the user who holds the address or can have it back. Returns undefined if they gave no credential on the device, or forgot
 * it.
 */
export async function findHolderOfDevice(
  read: Reader,
  key: { email: string; tokenHash: Uint8Array },
): Promise<{ userId: string; knownSince: Date } | undefined> {
  const [row] = await selectHolderOfDevice(read, key);
  return row?.knownSince ? { ...row, knownSince: row.knownSince } : undefined;
}

/**
 * Returns whether the user has known this browser since before that instant, or gave their first credential in it. Returns false
 * for a browser that they have forgotten. If a restore came after that instant, returns false for every browser, because nobody
 * knows what was lost.
 */
export async function isDeviceEstablished(
  db: Database,
  { userId, tokenHash, before }: { userId: string; tokenHash: Uint8Array; before: Date },
): Promise<boolean> {
  const row = await db
    .selectFrom('devices')
    .select('user_id')
    .where('token_hash', '=', tokenHash)
    .where('user_id', '=', userId)
    .where('forgotten_at', 'is', null)
    .where((is) =>
      is.or([is('known_since', '<=', before), is('known_since', '=', is.ref('first_credential_at'))]),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('restores').select('at').where('at', '>', before))),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns whether the user has ever known a device, even if they have forgotten it since. */
export async function hasKnownDevice(db: Database, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('devices')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('known_since', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Makes all devices of the user unknown browsers. From then on, the limits of unknown browsers apply to them, and a link in a
 * mail logs nobody in there.
 */
export async function forgetDevices(
  db: Database,
  userId: string,
  now: Date,
  exceptTokenHash?: Uint8Array,
): Promise<void> {
  let query = db
    .updateTable('devices')
    .set({ forgotten_at: now })
    .where('user_id', '=', userId)
    .where('forgotten_at', 'is', null);
  if (exceptTokenHash) query = query.where('token_hash', '<>', exceptTokenHash);
  await query.execute();
}

export async function forgetAllDevices(trx: Transaction<DB>, now: Date): Promise<void> {
  await runByKeyRanges(trx, { table: 'devices', key: 'token_hash' }, (isInRange) =>
    trx
      .updateTable('devices')
      .set({ forgotten_at: now })
      .where('forgotten_at', 'is', null)
      .where(isInRange)
      .execute(),
  );
}

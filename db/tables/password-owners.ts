// Finds the user whose password is checked, and whether that user knows the browser. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';
import { isHeld } from './users.ts';

export type PasswordOwner = {
  userId: string;
  passwordHash: string | null;
  /**
   * Since when the user knows this device. They know it from the first credential that they gave there until they forget it. Null
   * if they do not know it.
   */
  deviceKnownSince: Date | null;
  /** When the user first gave a credential on this device. This time stays the same if they forget the device. */
  deviceFirstKnownAt: Date | null;
  /** Whether the user gave their very first credential on this device, and has not forgotten it. */
  isFirstDevice: boolean | null;
};

/** Without `deviceHash`, returns one row for each device. */
const selectPasswordOwner = (db: Database, deviceHash?: Uint8Array) =>
  db
    .selectFrom('users as u')
    .leftJoin('devices as d', (join) => {
      const ofUser = join.onRef('d.user_id', '=', 'u.id');
      return deviceHash ? ofUser.on('d.token_hash', '=', deviceHash) : ofUser;
    })
    .select([
      'u.id as userId',
      'u.password_hash as passwordHash',
      sql<Date | null>`case when d.forgotten_at is null then d.known_since end`.as('deviceKnownSince'),
      sql<Date | null>`least(d.known_since, d.first_credential_at)`.as('deviceFirstKnownAt'),
      sql<boolean | null>`d.forgotten_at is null and d.known_since = d.first_credential_at`.as(
        'isFirstDevice',
      ),
    ]);

const selectHolderPassword = prepareRead((db, values: { email: string; deviceHash: Uint8Array }) =>
  selectPasswordOwner(db, values.deviceHash).where('u.email', '=', values.email).where(isHeld),
);
const selectOwnPassword = prepareRead((db, values: { userId: string; deviceHash: Uint8Array }) =>
  selectPasswordOwner(db, values.deviceHash).where('u.id', '=', values.userId),
);

/** Use this only to check a password. With `email`, it finds the user who holds the address. */
export async function findPasswordOwner(
  read: Reader,
  key: { email: string } | { userId: string },
  deviceHash: Uint8Array,
): Promise<PasswordOwner | undefined> {
  const [row] = await ('email' in key
    ? selectHolderPassword(read, { ...key, deviceHash })
    : selectOwnPassword(read, { ...key, deviceHash }));
  return row;
}

/**
 * Returns what a login would find about the user: first for a browser that is new to the user, and then for each of the 100
 * browsers that the user used last.
 */
export async function listPasswordOwners(
  db: Database,
  userId: string,
): Promise<[PasswordOwner, ...PasswordOwner[]]> {
  const select = (of: ReturnType<typeof selectPasswordOwner>) => of.where('u.id', '=', userId);
  const known = select(selectPasswordOwner(db)).where('d.forgotten_at', 'is', null);
  const [inNewBrowser, inBrowsers] = await Promise.all([
    select(selectPasswordOwner(db, new Uint8Array())).executeTakeFirstOrThrow(),
    known.orderBy('d.last_login_at', 'desc').limit(100).execute(),
  ]);
  return [inNewBrowser, ...inBrowsers];
}

// Finds the user whose password is checked, and whether they know the browser. This file only reads.
import { sql } from 'kysely';
import type { Database } from '../postgres/client.ts';
import { prepareRead } from '../postgres/prepare.ts';
import type { Reader } from '../postgres/reader.ts';
import { isHeld } from './users.ts';

export type PasswordOwner = {
  userId: string;
  passwordHash: string | null;
  /** When the user gave a credential on this device; null if they never did, or forgot the device. */
  deviceKnownSince: Date | null;
  /** When the user first gave a credential on this device, even if they forgot the device. */
  deviceFirstKnownAt: Date | null;
  /** The user gave their first credential ever on this device, and has not forgotten it. */
  isFirstDevice: boolean | null;
};

const selectPasswordOwner = (db: Database, deviceHash: Uint8Array) =>
  db
    .selectFrom('users as u')
    .leftJoin('devices as d', (join) =>
      join.onRef('d.user_id', '=', 'u.id').on('d.token_hash', '=', deviceHash),
    )
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

/** For checking a password only. With `email`, finds the user who holds the address. */
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

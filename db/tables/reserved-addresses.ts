// The only writer of `reserved_addresses`: former addresses that users can have back. A trigger on `users` stops other people
// from holding such an address.
import type { Database } from '../postgres/client.ts';
import { prepare } from '../postgres/prepare.ts';

const select = prepare((db, { email }: { email: string }) =>
  db
    .selectFrom('reserved_addresses')
    .select(['user_id as userId', 'expires_at as expiresAt'])
    .where('email', '=', email),
);

/** Returns the id of the user for whom the address is reserved. Deletes an expired reservation. */
export async function findReservation(
  db: Database,
  { email, now }: { email: string; now: Date },
): Promise<string | undefined> {
  const [row] = await select(db, { email });
  if (!row || row.expiresAt > now) return row?.userId;
  // The trigger ignores the expiry. So an expired reservation is deleted here, and only `now` decides what has expired.
  await db
    .deleteFrom('reserved_addresses')
    .where('email', '=', email)
    .where('expires_at', '<=', now)
    .execute();
  return undefined;
}

export async function reserveAddress(
  db: Database,
  { email, userId, expiresAt }: { email: string; userId: string; expiresAt: Date },
): Promise<void> {
  // An expired reservation may not have been deleted yet.
  await db.deleteFrom('reserved_addresses').where('email', '=', email).execute();
  await db
    .insertInto('reserved_addresses')
    .values({ email, user_id: userId, expires_at: expiresAt })
    .execute();
}

export async function listReservations(
  db: Database,
  { userId, now }: { userId: string; now: Date },
): Promise<string[]> {
  const rows = await db
    .selectFrom('reserved_addresses')
    .select('email')
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .orderBy('number')
    .execute();
  return rows.map(({ email }) => email);
}

export async function releaseAllAddresses(trx: Database, userId: string): Promise<void> {
  await trx.deleteFrom('reserved_addresses').where('user_id', '=', userId).execute();
}

/** Frees the given address and all addresses that the user gave up after it. The caller has locked the user. */
export async function releaseAddresses(
  db: Database,
  { email, userId, now }: { email: string; userId: string; now: Date },
): Promise<void> {
  await db
    .deleteFrom('reserved_addresses')
    .where('user_id', '=', userId)
    .where('number', '>=', (query) =>
      query
        .selectFrom('reserved_addresses')
        .select('number')
        .where('email', '=', email)
        .where('user_id', '=', userId)
        .where('expires_at', '>', now),
    )
    .execute();
}

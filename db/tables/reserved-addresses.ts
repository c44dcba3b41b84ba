// The only writer of `reserved_addresses`: addresses that users have changed and can still have back. Nobody else may hold such
// an address; a trigger on `users` refuses it.
import type { Database } from '../postgres/client.ts';
import { prepare } from '../postgres/prepare.ts';

const select = prepare((db, { email }: { email: string }) =>
  db
    .selectFrom('reserved_addresses')
    .select(['user_id as userId', 'expires_at as expiresAt'])
    .where('email', '=', email),
);

/** The former owner of the address, if it is still reserved for them. An expired reservation is removed. */
export async function findReservation(
  db: Database,
  { email, now }: { email: string; now: Date },
): Promise<string | undefined> {
  const [row] = await select(db, { email });
  if (!row || row.expiresAt > now) return row?.userId;
  // The trigger does not look at the time: `now` is the only clock.
  await db
    .deleteFrom('reserved_addresses')
    .where('email', '=', email)
    .where('expires_at', '<=', now)
    .execute();
  return undefined;
}

/** Reserves an address that the user has held until now. */
export async function reserveAddress(
  db: Database,
  { email, userId, expiresAt }: { email: string; userId: string; expiresAt: Date },
): Promise<void> {
  // A reservation that has expired and was not swept yet.
  await db.deleteFrom('reserved_addresses').where('email', '=', email).execute();
  await db
    .insertInto('reserved_addresses')
    .values({ email, user_id: userId, expires_at: expiresAt })
    .execute();
}

/** The addresses that the user can have back, the earliest first. */
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

/** Frees all addresses that the user could have back. */
export async function releaseAllAddresses(trx: Database, userId: string): Promise<void> {
  await trx.deleteFrom('reserved_addresses').where('user_id', '=', userId).execute();
}

/** Frees that address and those that the user gave up later. The caller has locked the user. */
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

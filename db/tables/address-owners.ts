// Finds the owner of an email address. This is the user who holds it, or otherwise the user who had it and can still have it
// back.
import { sql, type Transaction } from 'kysely';
import type { Database } from '../postgres/client.ts';
import type { DB } from '../schema.ts';
import { findReservation } from './reserved-addresses.ts';
import { findHolder, findUserById, lockUser, type User } from './users.ts';

/**
 * In a transaction, the query for the holder runs before the query for the reservation. The holder may give up the address
 * between these two queries. In that case it is reserved for that user, and the second query finds them.
 */
export async function findAddressOwner(db: Database, email: string, now: Date): Promise<User | undefined> {
  const [holder, ownerId] = await Promise.all([findHolder(db, email), findReservation(db, { email, now })]);
  return holder ?? (ownerId === undefined ? undefined : findUserById(db, ownerId));
}

/** Returns the addresses that nobody holds or can have back. */
export async function listFreeAddresses(db: Database, emails: string[]): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`
    select unnest(${emails}::text[]) as email
    except select email from users where holds_email and email = any(${emails})
    except select email from reserved_addresses where email = any(${emails})`.execute(db);
  return rows.map(({ email }) => email);
}

export async function lockAddressOwner(
  trx: Transaction<DB>,
  email: string,
  now: Date,
): Promise<User | undefined> {
  const holder = await lockUser(trx, { email });
  if (holder) return holder;
  const ownerId = await findReservation(trx, { email, now });
  return ownerId === undefined ? undefined : lockUser(trx, { id: ownerId });
}

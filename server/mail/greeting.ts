// Finds the readers of mails, and decides whether a greeting has a name (contract 9.232 and 9.233). Strangers must not write to
// others in our mails. So a mail has a name only if the account's owner has had time to see the name, and if the name cannot be
// a link or a number.
import type { Database } from '../../db/postgres/client.ts';
import { findMailReaders, type MailReader } from '../../db/tables/mail-readers.ts';
import { daysAfter } from '../basics/instant.ts';

const settledAfterDays = 7;
const longest = 60;

/** In a name, a dot may come only at the end of a word. Otherwise mail programs could turn the name into a link. */
const plainName = /^(?!.*\.\S)\p{L}[\p{L}\p{M} .'’-]*$/u;

/** Returns readers by the id of the mail. If a reader has no name, the mail greets nobody by name. */
export async function findReaders(
  db: Database,
  mails: { id: string }[],
  now: Date,
): Promise<ReadonlyMap<string, MailReader>> {
  const mailIds = mails.map(({ id }) => id);
  const readers = await findMailReaders(db, { mailIds, since: daysAfter(now, -settledAfterDays) });
  return new Map(
    readers.map(({ id, name, timeZone }) => [
      id,
      { id, name: name && isPlain(name) ? name : null, timeZone },
    ]),
  );
}

export const isPlain = (name: string): boolean => plainName.test(name) && Array.from(name).length <= longest;

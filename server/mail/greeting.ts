// Decides whether the greeting of a mail has a name (contract 9.232 and 9.233). Strangers must not write to others in our
// mails. So a mail has a name only if the account's owner has had time to see the name, and if the name cannot be a link or a
// number.
import type { Database } from '../../db/postgres/client.ts';
import { findSettledNames } from '../../db/tables/greeted-names.ts';
import { daysAfter } from '../basics/instant.ts';

const settledAfterDays = 7;
const longest = 60;

/** In a name, a dot may come only at the end of a word. Otherwise mail programs could turn the name into a link. */
const plainName = /^(?!.*\.\S)\p{L}[\p{L}\p{M} .'’-]*$/u;

/** Returns names by the id of the mail. If a mail has no entry, it greets nobody by name. */
export async function findGreeted(
  db: Database,
  mails: { id: string }[],
  now: Date,
): Promise<ReadonlyMap<string, string>> {
  const mailIds = mails.map(({ id }) => id);
  const names = await findSettledNames(db, { mailIds, since: daysAfter(now, -settledAfterDays) });
  return new Map([...names].filter(([, name]) => isPlain(name)));
}

export const isPlain = (name: string): boolean => plainName.test(name) && Array.from(name).length <= longest;

// Whom a mail greets by name (contract 9.232 and 9.233). A name is text that somebody typed, and strangers must not write to
// other people in our mails. So it is used only once its owner has had time to see it, and only if it cannot be a link or number.
import type { Database } from '../../db/postgres/client.ts';
import { findSettledNames } from '../../db/tables/greeted-names.ts';
import { daysAfter } from '../basics/instant.ts';

const settledAfterDays = 7;
const longest = 60;

/** Letters, and what stands between those of a name. A dot ends a word, or mail programs could make a link of the name. */
const plainName = /^(?!.*\.\S)\p{L}[\p{L}\p{M} .'’-]*$/u;

/** The names to greet the readers of these mails by, by the mail's id; a mail that is not there greets nobody by name. */
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

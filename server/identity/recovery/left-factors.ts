// The factors that are left in a take-back (contract 2.46 to 2.49), or where somebody gets a new address (12.78): whoever uses
// the link gives one of them, if there is any.

import type { Database } from '../../../db/postgres/client.ts';
import { type ListedPasskey, listPasskeys } from '../../../db/tables/passkeys.ts';
import type { CodeFactor, User } from '../../../db/tables/users.ts';
import { codeFactorRules } from '../factor/code-factors.ts';

export type LeftFactors = {
  passkeys: ListedPasskey[];
  codeFactors: CodeFactor[];
  /** Recovery codes count beside `codeFactors` if they were made by then; if this is undefined, all do. */
  codesMadeBy: Date | undefined;
};

/**
 * Factors from before the window, and those added in it in an established browser; for an administrator or manager, all
 * factors. Without a window, which begins at `since`, all factors are left.
 */
export async function findLeftFactors(db: Database, user: User, since?: Date): Promise<LeftFactors> {
  const isLeft = (addedAt: Date, fromEstablishedBrowser: boolean) =>
    !since || addedAt < since || fromEstablishedBrowser || user.role !== 'user';
  const passkeys = await listPasskeys(db, user.id);
  const left: LeftFactors = {
    passkeys: passkeys.filter((each) => isLeft(each.createdAt, each.fromEstablishedBrowser)),
    codeFactors: [],
    codesMadeBy: undefined,
  };
  for (const kind of user.codeFactors) {
    const found = await codeFactorRules[kind].find(db, user.id);
    if (!found || !isLeft(found.addedAt, found.fromEstablishedBrowser)) continue;
    left.codeFactors.push(kind);
    if (!since) continue;
    const madeBy = found.addedAt < since ? new Date(since.getTime() - 1) : found.addedAt;
    if (!left.codesMadeBy || madeBy < left.codesMadeBy) left.codesMadeBy = madeBy;
  }
  return left;
}

export const isAnyLeft = ({ passkeys, codeFactors }: LeftFactors) =>
  passkeys.length > 0 || codeFactors.length > 0;

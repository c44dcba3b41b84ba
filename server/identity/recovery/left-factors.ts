// Finds the factors that still count for a take-back (contract 2.46 to 2.49) or a new address (contract 12.78). If any factor
// counts, the user of the link must give one.

import type { Database } from '../../../db/postgres/client.ts';
import { type ListedPasskey, listPasskeys } from '../../../db/tables/passkeys.ts';
import type { CodeFactor, User } from '../../../db/tables/users.ts';
import { codeFactorRules } from '../factor/code-factors.ts';

export type LeftFactors = {
  passkeys: ListedPasskey[];
  codeFactors: CodeFactor[];
  /** Recovery codes made after this time are refused. If it is undefined, all recovery codes are accepted. */
  codesMadeBy: Date | undefined;
};

/**
 * With `since`, a factor that was added later counts only if it was added in an established browser, or if the user is staff.
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

export const noFactors: LeftFactors = { passkeys: [], codeFactors: [], codesMadeBy: undefined };

export const isAnyLeft = ({ passkeys, codeFactors }: LeftFactors) =>
  passkeys.length > 0 || codeFactors.length > 0;

// The factors that are left in a take-back (contract 2.46 to 2.49): whoever takes an account back gives one of them, if
// there is any.

import type { Database } from '../../../db/postgres/client.ts';
import { findAuthenticator } from '../../../db/tables/authenticators.ts';
import { type ListedPasskey, listPasskeys } from '../../../db/tables/passkeys.ts';
import type { User } from '../../../db/tables/users.ts';

export type LeftFactors = {
  passkeys: ListedPasskey[];
  /** The authenticator app. Recovery codes count beside it if they were made by `codesMadeBy`. */
  app: { codesMadeBy: Date } | undefined;
};

/**
 * Factors from before the window, and those added in it in an established browser; for an administrator or manager, all
 * factors.
 */
export async function findLeftFactors(db: Database, user: User, since: Date): Promise<LeftFactors> {
  const isLeft = (addedAt: Date, fromEstablishedBrowser: boolean) =>
    addedAt < since || fromEstablishedBrowser || user.role !== 'user';
  const passkeys = await listPasskeys(db, user.id);
  const app = await findAuthenticator(db, user.id);
  return {
    passkeys: passkeys.filter((each) => isLeft(each.createdAt, each.fromEstablishedBrowser)),
    app:
      app && isLeft(app.addedAt, app.fromEstablishedBrowser)
        ? { codesMadeBy: app.addedAt < since ? new Date(since.getTime() - 1) : app.addedAt }
        : undefined,
  };
}

export const isAnyLeft = ({ passkeys, app }: LeftFactors) => passkeys.length > 0 || app !== undefined;

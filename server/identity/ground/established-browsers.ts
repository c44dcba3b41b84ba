// Established browsers (contract 2.21 and 2.22). In such a browser the user gave a credential at least seven days ago, or the
// account got its first credential. A factor added in such a browser is more likely the owner's than a thief's.

import type { Database } from '../../../db/postgres/client.ts';
import { hasKnownDevice, isDeviceEstablished } from '../../../db/tables/devices.ts';
import type { PasswordOwner } from '../../../db/tables/password-owners.ts';
import type { User } from '../../../db/tables/users.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { isNewcomer } from './customers.ts';
import { readDevice } from './device.ts';

export const establishedDays = 7;

export async function isEstablishedBrowser(
  db: Database,
  { config, now }: Pick<Dependencies, 'config' | 'now'>,
  request: Request,
  userId: string,
): Promise<boolean> {
  const tokenHash = readDevice({ config }, request);
  if (!tokenHash) return false;
  return isDeviceEstablished(db, { userId, tokenHash, before: daysAfter(now(), -establishedDays) });
}

/**
 * Names an established browser, for counts that a thief must not use up. If a thief sets a new password, the browser keeps
 * its name, and so the owner keeps these counts.
 */
export function nameOwnBrowser(owner: PasswordOwner, now: Date): string | undefined {
  const { userId, deviceFirstKnownAt: knownAt, isFirstDevice } = owner;
  if (!knownAt || !(isFirstDevice || knownAt <= daysAfter(now, -establishedDays))) return undefined;
  return `${userId} ${knownAt.toISOString()}`;
}

/** Returns the allowance that a login with the right password spends, and the name of the allowance's owner. */
export function findLoginAllowance(owner: PasswordOwner, now: Date) {
  const ownBrowser = nameOwnBrowser(owner, now);
  const otherBrowser = owner.deviceKnownSince ? 'login-known-browser' : 'login-new-browser';
  const name = ownBrowser ? 'login-own-browser' : otherBrowser;
  return { name, of: `${ownBrowser ?? owner.userId} ${owner.passwordHash ?? ''}` } as const;
}

/**
 * Returns whether a take-back can remove a factor that is added now. It never removes factors of administrators and managers.
 */
export async function isRevocable(
  deps: Pick<Dependencies, 'config' | 'db' | 'now'>,
  request: Request,
  user: Pick<User, 'id' | 'role'>,
): Promise<boolean> {
  return user.role === 'user' && !(await isEstablishedBrowser(deps.db, deps, request, user.id));
}

/**
 * Returns true if the user has never had a credential. Returns false if an operator has removed the user's credentials. The
 * caller has locked the user.
 */
export async function awaitsFirstCredential(db: Database, user: User): Promise<boolean> {
  return isNewcomer(user) && !(await hasKnownDevice(db, user.id));
}

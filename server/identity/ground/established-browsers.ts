// Established browsers (contract 2.21 to 2.23): those in which a user first gave a credential at least seven days ago, and
// the browser in which the account got its first credential. What somebody adds in an established browser is more likely
// the owner's than a thief's.

import type { Database } from '../../../db/postgres/client.ts';
import { hasKnownDevice, isDeviceEstablished } from '../../../db/tables/devices.ts';
import type { PasswordOwner } from '../../../db/tables/password-owners.ts';
import type { User } from '../../../db/tables/users.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { isNewcomer } from './customers.ts';
import { readDevice } from './device.ts';

export const establishedDays = 7;

/** Whether the browser that sent this request is established for that user now. `db` may be a transaction. */
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
 * Names a browser that the user has had for a week, for counting what a thief must not use up; undefined for any other
 * browser. The named browser is established, or was: a thief who changes the password forgets the browsers of the owner.
 */
export function nameOwnBrowser(owner: PasswordOwner, now: Date): string | undefined {
  const { userId, deviceFirstKnownAt: knownAt, isFirstDevice } = owner;
  if (!knownAt || !(isFirstDevice || knownAt <= daysAfter(now, -establishedDays))) return undefined;
  return `${userId} ${knownAt.toISOString()}`;
}

/**
 * Whether a take-back can remove a factor that this user adds in this browser now. It never removes what administrators and
 * managers add.
 */
export async function isRevocable(
  deps: Pick<Dependencies, 'config' | 'db' | 'now'>,
  request: Request,
  user: Pick<User, 'id' | 'role'>,
): Promise<boolean> {
  return user.role === 'user' && !(await isEstablishedBrowser(deps.db, deps, request, user.id));
}

/**
 * Whether this user is about to get their first credential ever. A user whose credentials an operator has removed had one
 * before. The caller has locked the user.
 */
export async function awaitsFirstCredential(db: Database, user: User): Promise<boolean> {
  return isNewcomer(user) && !(await hasKnownDevice(db, user.id));
}

// Established browsers (contract section 2): those in which a user first gave a credential at least seven days ago, and the
// one in which the account got its first. What is added in one is more likely the owner's than a thief's.
import { hasKnownDevice, isDeviceEstablished } from '../../db/devices.ts';
import type { Database } from '../../db/postgres/client.ts';
import type { User } from '../../db/users.ts';
import { daysAfter } from '../instant.ts';
import type { Services } from '../services.ts';
import { hasOwnLogin } from './customers.ts';
import { readDevice } from './device.ts';

export const establishedDays = 7;

/** Whether the browser that sent this request is established for that user now. `db` may be a transaction. */
export async function isEstablishedBrowser(
  db: Database,
  { config, now }: Pick<Services, 'config' | 'now'>,
  request: Request,
  userId: string,
): Promise<boolean> {
  const tokenHash = readDevice({ config }, request);
  if (!tokenHash) return false;
  return isDeviceEstablished(db, { userId, tokenHash, before: daysAfter(now(), -establishedDays) });
}

/**
 * Whether what this user is about to get is the first credential of all. One whose credentials an operator has removed had
 * one before. The caller has locked the user.
 */
export async function awaitsFirstCredential(db: Database, user: User): Promise<boolean> {
  return !hasOwnLogin(user) && !(await hasKnownDevice(db, user.id));
}

// The profile is the single source of truth about a person. Products see it, and its owner sees and edits it (contract 2.65 to
// 2.68 and 3.6 to 3.11).

import { z } from 'zod';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import { editAccountName } from '../../../db/tables/accounts.ts';
import type { ProfileSnapshot } from '../../../db/tables/events.ts';
import { editUser, type User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { nameSchema } from '../../basics/names.ts';
import { textSchema } from '../../basics/text.ts';
import { findTimeZone } from '../../basics/time-zones.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { StandardProfile } from '../../sso/payload.ts';
import { listActiveCapabilities, readCapabilities } from '../ground/capabilities.ts';
import { type Actor, lockActor, recordActorEvent } from '../session/actor.ts';

export function buildStandardProfile(user: ProfileSnapshot): StandardProfile {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    role: roleOf(user),
    account: { capabilities: listActiveCapabilities(user.account) },
    profile_updated_at: user.profileUpdatedAt.toISOString(),
  };
}

// A merchant is a user whose account was granted a capability, even if the capability is not in force.
export function roleOf(user: {
  role: string;
  account: { capabilities: readonly string[] };
}): StandardProfile['role'] {
  if (user.role === 'admin' || user.role === 'manager') return 'admin';
  return user.account.capabilities.length > 0 ? 'merchant' : 'customer';
}

export function buildOwnProfile(user: User) {
  return {
    ...buildStandardProfile(user),
    accountName: user.account.name,
    timeZone: user.timeZone,
    grantedCapabilities: readCapabilities(user.account.capabilities),
    accountVerified: user.account.verifiedAt !== null,
    emailVerified: user.emailVerifiedAt !== null,
    hasPassword: user.hasPassword,
    hasPasskey: user.hasPasskey,
    deletionDueAt: user.deletionDueAt,
    hasAuthenticator: user.codeFactors.includes('authenticator'),
  };
}

export const profileEditSchema = z.object({
  name: nameSchema.optional(),
  accountName: nameSchema.optional(),
  /** Empty for none. */
  timeZone: textSchema('timeZone')
    .refine((text) => text === '' || findTimeZone(text) !== undefined, faultWords.time_zone_unknown)
    .transform((text) => findTimeZone(text) ?? null)
    .optional(),
  /** The version that the edit is based on. If left out, the last write wins. */
  profile_updated_at: textSchema('profile_updated_at').optional(),
});

/** Changes all or nothing. Throws 409 `edited_meanwhile` if the profile has changed since the edit was begun. */
export async function editProfile(
  { db }: Dependencies,
  actor: Actor,
  { profile_updated_at: madeFrom, ...edit }: z.infer<typeof profileEditSchema>,
): Promise<void> {
  await inTransactionOf(actor.visit, db, async (trx) => {
    const user = await lockActor(trx, actor);
    const present = { name: user.name, accountName: user.account.name, timeZone: user.timeZone };
    const { accountName, ...changes } = pickChanges(present, edit);
    const changed = [...Object.keys(changes), ...(accountName === undefined ? [] : ['accountName'])];
    if (changed.length === 0) return;
    if (madeFrom !== undefined && madeFrom !== user.profileUpdatedAt.toISOString())
      throw new AppError('edited_meanwhile');
    if (accountName !== undefined) await editAccountName(trx, user.account.id, accountName);
    if (Object.keys(changes).length > 0) await editUser(trx, user.id, changes);
    await recordActorEvent(trx, actor, { type: 'profile.updated', details: { changed } });
  });
}

function pickChanges<T extends object>(present: T, edit: Partial<T>): Partial<T> {
  const names = Object.keys(present) as (keyof T)[];
  const changed = names.filter((name) => edit[name] !== undefined && edit[name] !== present[name]);
  return Object.fromEntries(changed.map((name) => [name, edit[name]])) as Partial<T>;
}

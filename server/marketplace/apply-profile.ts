// What a profile from the marketplace changes about its user: everything that was not edited here (contract 6.23 to 6.34).
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import { settleAccount, updateAccountNameUnlessEdited } from '../../db/tables/accounts.ts';
import { findAddressOwner } from '../../db/tables/address-owners.ts';
import { type User, updateUser } from '../../db/tables/users.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Capability } from '../identity/ground/capabilities.ts';
import { isNewcomer } from '../identity/ground/customers.ts';
import { canGetMail } from '../identity/ground/email-address.ts';
import { notify } from '../identity/ground/notices.ts';
import type { Config } from '../settings/config.ts';
import type { MarketplaceProfile } from './payload.ts';

export type Applied = { before: User; after: User; kept: Kept };

/** Members of the profile that differ from ours and were not applied, and why. */
export type Kept = {
  name?: 'edited_here';
  'account.name'?: 'edited_here';
  /** The right was decided here, or by another link of the account. */
  'account.capabilities'?: 'decided_here';
  email?: KeptEmail;
};

type KeptEmail =
  /** The user can log in without the marketplace. */
  | 'own_login'
  | 'not_verified'
  /** The new address cannot get mail. */
  | 'email_refused'
  | 'email_in_use';

/** `request` is the request of the person's browser. */
export type Occasion = Pick<Dependencies, 'now'> & { config: Pick<Config, 'production'>; request?: Request };

/** The caller has stored the profile's rights with the link. */
export async function applyProfile(
  trx: Transaction<DB>,
  occasion: Occasion,
  user: User,
  profile: MarketplaceProfile,
): Promise<Applied> {
  const { name } = profile.account;
  if (name !== undefined) await updateAccountNameUnlessEdited(trx, user.account.id, name);
  const account = await settleAccount(trx, user.account.id);
  const { kept: email, ...address } = await readAddress(trx, occasion, user, profile);
  const change = { ...(!user.nameEditedAt && { name: profile.name }), ...address };
  await updateUser(trx, user.id, change);
  if (address.email && user.emailVerifiedAt)
    await notify(trx, occasion, user, 'email_replaced', occasion.request);
  const after: User = { ...user, ...change, account };
  const said = readRights(profile).capabilities;
  const isDecided =
    said.length !== account.capabilities.length || said.some((name) => !account.capabilities.includes(name));
  const kept: Kept = {
    ...(after.name !== profile.name && { name: 'edited_here' }),
    ...(name !== undefined && account.name !== name && { 'account.name': 'edited_here' }),
    ...(isDecided && { 'account.capabilities': 'decided_here' }),
    ...(email && { email }),
  };
  return { before: user, after, kept };
}

async function readAddress(
  trx: Transaction<DB>,
  { config, now: readNow }: Occasion,
  user: User,
  { email, email_verified: isVerified }: MarketplaceProfile,
): Promise<{ email?: string; emailVerifiedAt?: Date; kept?: KeptEmail }> {
  const now = readNow();
  if (email === user.email) return isVerified && !user.emailVerifiedAt ? { emailVerifiedAt: now } : {};
  if (user.holdsEmail && !isNewcomer(user)) return { kept: 'own_login' };
  if (!canGetMail(email, config)) return { kept: 'email_refused' };
  if (!user.holdsEmail) return { email };
  if (!isVerified) return { kept: 'not_verified' };
  const owner = await findAddressOwner(trx, email, now);
  return owner ? { kept: 'email_in_use' } : { email, emailVerifiedAt: now };
}

/** Returns what the account may do according to the profile, and whether the marketplace has verified it. */
export function readRights({ role, account: { capabilities } }: MarketplaceProfile) {
  const isBareMerchant = role === 'merchant' && capabilities.length === 0;
  const granted: Capability[] = isBareMerchant ? ['manage_storefront'] : capabilities;
  return { capabilities: granted, isVerified: capabilities.includes('sell_products') };
}

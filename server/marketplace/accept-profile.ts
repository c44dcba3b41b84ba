// Finds the user of a profile from the marketplace (contract 6.12 to 6.22). A person is identified by the marketplace's id, and
// never by the email address. The rules lock the rows that they decide on, so that hand-offs at the same time decide one after
// another.
import type { Transaction } from 'kysely';
import { LostRace } from '../../db/races.ts';
import type { DB } from '../../db/schema.ts';
import { settleRights } from '../../db/tables/accounts.ts';
import { lockAddressOwner } from '../../db/tables/address-owners.ts';
import {
  findExternalLink,
  isLinked,
  type Said,
  setExternalLink,
  setExternalLinkSaid,
  wakeExternalLink,
} from '../../db/tables/external-links.ts';
import { type LinkedUser, lockLinkedUser } from '../../db/tables/linked-users.ts';
import { deleteUser, lockUser, type User, updateUser } from '../../db/tables/users.ts';
import { AppError } from '../basics/errors.ts';
import { createCustomer, isNewcomer } from '../identity/ground/customers.ts';
import { canGetMail } from '../identity/ground/email-address.ts';
import { notify } from '../identity/ground/notices.ts';
import { type Applied, applyProfile, type Occasion, readRights } from './apply-profile.ts';
import type { MarketplaceProfile } from './payload.ts';

export const provider = 'marketplace';

export type ProfileOutcome =
  | {
      kind: 'accepted';
      userId: string;
      /** `stale`: the profile is not newer than the last applied profile, so nothing changed. */
      change: 'created' | 'linked' | 'proved' | 'updated' | 'stale';
      applied?: Applied;
    }
  /** The user must first log in, and then connect the two accounts. */
  | { kind: 'connect_needed'; userId: string };

/**
 * `known` is the user who is linked to the profile's id. Their row is locked. Throws 403 `admin_not_allowed` and
 * `account_suspended`, 409 `email_in_use`, and 400 `malformed_payload` for an address that cannot get mail. It throws before
 * it writes anything.
 */
export async function acceptProfile(
  trx: Transaction<DB>,
  occasion: Occasion,
  profile: MarketplaceProfile,
  known: LinkedUser | undefined,
): Promise<ProfileOutcome> {
  const user = known && requireAllowed(known.user);
  if (known?.isSleeping) return { kind: 'connect_needed', userId: known.user.id };
  // If the profile's id is linked to no user, or to a user who holds no address, then a verified address decides which user the
  // profile belongs to.
  if (!user?.holdsEmail && profile.email_verified) return acceptByAddress(trx, occasion, profile, known);
  if (!user) return createUser(trx, occasion, profile);
  return update(trx, occasion, profile, known as LinkedUser);
}

/** `typed` is the user who has the link now. Somebody typed the address of this user, and nobody has proved it. */
async function acceptByAddress(
  trx: Transaction<DB>,
  occasion: Occasion,
  profile: MarketplaceProfile,
  typed: LinkedUser | undefined,
): Promise<ProfileOutcome> {
  const found = await lockAddressOwner(trx, profile.email, occasion.now());
  if (!found && typed) {
    // If the new address cannot get mail, the user keeps their address.
    const isRefused = profile.email !== typed.user.email && !canGetMail(profile.email, occasion.config);
    return (isRefused ? update : proveAddress)(trx, occasion, profile, typed);
  }
  if (!found) return createUser(trx, occasion, profile);
  const holder = requireAllowed(found);
  const present = await findExternalLink(trx, provider, holder.id);
  // Another hand-off created the link while this hand-off waited for the lock. So this hand-off begins again.
  if (present?.externalId === profile.id && !present.isSleeping) throw new LostRace();
  if (present && !present.isSleeping) throw otherLink();
  // The holder of the address must connect the two accounts themselves if they have ever had a credential, if they have changed
  // to another address, or if they have a sleeping link. They must first see what they would lose with that link.
  if (!isNewcomer(holder) || holder.email !== profile.email || present)
    return { kind: 'connect_needed', userId: holder.id };
  const applied = await link(trx, occasion, holder, profile, typed);
  return { kind: 'accepted', userId: holder.id, change: 'linked', applied };
}

async function update(
  trx: Transaction<DB>,
  occasion: Occasion,
  profile: MarketplaceProfile,
  { user, appliedProfileUpdatedAt }: LinkedUser,
): Promise<ProfileOutcome & { kind: 'accepted' }> {
  if (appliedProfileUpdatedAt && profile.profile_updated_at <= appliedProfileUpdatedAt)
    return { kind: 'accepted', userId: user.id, change: 'stale' };
  await setExternalLinkSaid(trx, { provider, externalId: profile.id }, readSaid(profile));
  const applied = await applyProfile(trx, occasion, user, profile);
  return { kind: 'accepted', userId: user.id, change: 'updated', applied };
}

/**
 * Stores the address as proved in any case. The other members of the profile are applied only if the profile is newer than the
 * last profile that was applied.
 */
async function proveAddress(
  trx: Transaction<DB>,
  occasion: Occasion,
  profile: MarketplaceProfile,
  known: LinkedUser,
): Promise<ProfileOutcome> {
  const before = known.user;
  const proved = { email: profile.email, holdsEmail: true, emailVerifiedAt: occasion.now() } as const;
  await updateUser(trx, before.id, proved);
  const user = { ...before, ...proved };
  const { applied } = await update(trx, occasion, profile, { ...known, user });
  await notify(trx, occasion, user, 'email_proved', occasion.request);
  const { after, kept } = applied ?? { after: user, kept: {} };
  return { kind: 'accepted', userId: before.id, change: 'proved', applied: { before, after, kept } };
}

/**
 * Links the user who has just logged in to the profile of a pending hand-off. Returns undefined if the profile is older than
 * the last applied profile. Throws what `acceptProfile` throws, also if somebody else has the profile's id by now.
 */
export async function connectProfile(
  trx: Transaction<DB>,
  occasion: Occasion,
  profile: MarketplaceProfile,
  userId: string,
): Promise<Applied | undefined> {
  const known = await lockLinkedUser(trx, provider, profile.id);
  const found = known?.user.id === userId ? known.user : await lockUser(trx, { id: userId });
  if (!found) throw new AppError('not_found');
  const user = requireAllowed(found);
  // The link was created while this transaction waited for the user. So the transaction begins again: links must be locked
  // before their users, or two transactions could deadlock.
  if (!known && (await isLinked(trx, { provider, externalId: profile.id }))) throw new LostRace();
  const present = await findExternalLink(trx, provider, userId);
  if (present && !present.isSleeping && present.externalId !== profile.id) throw otherLink();
  if (known && known.user.id !== userId && known.user.holdsEmail) throw otherLink();
  return link(trx, occasion, user, profile, known);
}

const readSaid = (profile: MarketplaceProfile): Said => ({
  ...readRights(profile),
  at: profile.profile_updated_at,
});

const otherLink = () => new AppError('email_in_use', { reason: 'other_marketplace_link' });

/**
 * Links the profile to `user`. If the profile was linked to another user (`known`), that user is deleted, because they hold no
 * address and have nothing without the link. Returns undefined if the profile is too old to be applied.
 */
async function link(
  trx: Transaction<DB>,
  occasion: Occasion,
  user: User,
  profile: MarketplaceProfile,
  known: LinkedUser | undefined,
): Promise<Applied | undefined> {
  // A profile that was applied to another user does not make this profile out of date.
  const appliedAt = known?.user.id === user.id ? known.appliedProfileUpdatedAt : null;
  const isNewer = !appliedAt || profile.profile_updated_at > appliedAt;
  const key = { provider, externalId: profile.id };
  if (isNewer) await setExternalLink(trx, { ...key, userId: user.id }, readSaid(profile));
  else await wakeExternalLink(trx, key);
  if (known && known.user.id !== user.id) {
    await deleteUser(trx, known.user);
    await settleRights(trx, known.user.account.id);
  }
  const applied = isNewer ? await applyProfile(trx, occasion, user, profile) : undefined;
  await notify(trx, occasion, user, 'account_linked', occasion.request);
  return applied;
}

export function requireAllowed(user: User): User {
  if (user.role !== 'user') throw new AppError('admin_not_allowed', { reason: `role_${user.role}` });
  if (user.suspendedAt) throw new AppError('account_suspended', { reason: 'suspended' });
  return user;
}

async function createUser(
  trx: Transaction<DB>,
  { config, now }: Occasion,
  profile: MarketplaceProfile,
): Promise<ProfileOutcome> {
  if (!canGetMail(profile.email, config)) throw new AppError('malformed_payload', { reason: 'email' });
  const { capabilities, isVerified } = readRights(profile);
  // The payload's role is left out: no hand-off makes an administrator.
  const { id } = await createCustomer(trx, {
    email: profile.email,
    holdsEmail: profile.email_verified,
    emailVerifiedAt: profile.email_verified ? now() : null,
    name: profile.name,
    account: {
      name: profile.account.name ?? profile.name,
      capabilities,
      verifiedAt: isVerified ? now() : null,
    },
  });
  await setExternalLink(trx, { provider, externalId: profile.id, userId: id }, readSaid(profile));
  return { kind: 'accepted', userId: id, change: 'created' };
}

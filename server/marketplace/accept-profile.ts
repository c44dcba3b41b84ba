// What a profile from the marketplace changes here (contract section 6): the table of cases, and master data.
//
// Identity is the marketplace's id, never the e-mail address. The rules run in the caller's transaction and lock the
// rows that they decide on, so each of many hand-offs at once sees what the one before it did.
import type { Transaction } from 'kysely';
import { updateAccountFromMarketplace } from '../../db/accounts.ts';
import { findExternalId, insertExternalLink, setExternalLinkApplied } from '../../db/external-links.ts';
import { LostRace } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import {
  findUserByEmail,
  type LinkedUser,
  lockLinkedUser,
  lockUser,
  type User,
  updateUser,
} from '../../db/users.ts';
import { AppError } from '../errors.ts';
import { type Capability, readCapabilities } from '../identity/capabilities.ts';
import { createCustomer } from '../identity/customers.ts';
import type { MarketplaceProfile } from './payload.ts';

export const provider = 'marketplace';

export type ProfileOutcome =
  | {
      kind: 'accepted';
      userId: string;
      /** `stale`: not newer than the last profile applied, so nothing changed. */
      change: 'created' | 'linked' | 'updated' | 'stale';
      /** The profile has a new address, which belongs to somebody else here. */
      skippedEmail: boolean;
    }
  /** The address belongs to a user with a password. No link is made until that user logs in. */
  | { kind: 'login_needed'; userId: string };

/**
 * Applies one profile. `known` is the user linked to its id, locked. Throws 403 `admin_not_allowed`,
 * `account_suspended` or `email_unverified`, and 409 `email_in_use`.
 */
export async function acceptProfile(
  trx: Transaction<DB>,
  profile: MarketplaceProfile,
  known: LinkedUser | undefined,
  now: Date,
): Promise<ProfileOutcome> {
  if (known) {
    const user = requireAllowed(known.user);
    if (known.appliedProfileUpdatedAt && profile.profile_updated_at <= known.appliedProfileUpdatedAt) {
      return { kind: 'accepted', userId: user.id, change: 'stale', skippedEmail: false };
    }
    const skippedEmail = await applyProfile(trx, user, profile, now);
    await setExternalLinkApplied(trx, provider, profile.id, profile.profile_updated_at);
    return { kind: 'accepted', userId: user.id, change: 'updated', skippedEmail };
  }

  const found = await lockUser(trx, { email: profile.email });
  if (!found) {
    const userId = await createUser(trx, profile, now);
    return { kind: 'accepted', userId, change: 'created', skippedEmail: false };
  }
  const user = requireAllowed(found);
  const externalId = await findExternalId(trx, provider, user.id);
  // The same person's other hand-off made the link while this one waited for the lock.
  if (externalId === profile.id) throw new LostRace();
  if (externalId !== undefined) throw new AppError('email_in_use', { reason: 'other_marketplace_link' });
  if (user.hasPassword) return { kind: 'login_needed', userId: user.id };
  // Whoever typed somebody else's address at the marketplace must not become that customer here.
  if (!profile.email_verified) throw new AppError('email_unverified', { reason: 'link_by_unverified_email' });
  await linkUser(trx, user, profile, now);
  return { kind: 'accepted', userId: user.id, change: 'linked', skippedEmail: false };
}

/** Links the user who has just logged in. False if that id or that user has got another link meanwhile. */
export async function linkAfterLogin(
  trx: Transaction<DB>,
  userId: string,
  profile: MarketplaceProfile,
  now: Date,
): Promise<boolean> {
  if (await lockLinkedUser(trx, provider, profile.id)) return false;
  const user = await lockUser(trx, { id: userId });
  if (!user) throw new Error('a pending hand-off without its user');
  requireAllowed(user);
  if ((await findExternalId(trx, provider, userId)) !== undefined) return false;
  await linkUser(trx, user, profile, now);
  return true;
}

function requireAllowed(user: User): User {
  if (user.role !== 'user') throw new AppError('admin_not_allowed', { reason: `role_${user.role}` });
  if (user.suspendedAt) throw new AppError('account_suspended', { reason: 'suspended' });
  return user;
}

async function createUser(trx: Transaction<DB>, profile: MarketplaceProfile, now: Date): Promise<string> {
  // Without the payload's role: no hand-off makes an administrator.
  const { id } = await createCustomer(trx, {
    email: profile.email,
    emailVerifiedAt: profile.email_verified ? now : null,
    name: profile.name,
    account: { name: profile.account.name ?? profile.name, ...readAccount(profile, now) },
  });
  await insertLink(trx, id, profile);
  return id;
}

async function linkUser(trx: Transaction<DB>, user: User, profile: MarketplaceProfile, now: Date) {
  await insertLink(trx, user.id, profile);
  await applyProfile(trx, user, profile, now);
}

async function insertLink(trx: Transaction<DB>, userId: string, profile: MarketplaceProfile): Promise<void> {
  const { id: externalId, profile_updated_at: appliedProfileUpdatedAt } = profile;
  await insertExternalLink(trx, { provider, externalId, userId, appliedProfileUpdatedAt });
}

/** Updates whatever was not edited here. True if it skipped a new address because somebody else has it. */
async function applyProfile(
  trx: Transaction<DB>,
  user: User,
  profile: MarketplaceProfile,
  now: Date,
): Promise<boolean> {
  await updateAccountFromMarketplace(trx, user.account.id, {
    name: profile.account.name,
    ...readAccount(profile, now),
  });
  const isNewEmail = profile.email !== user.email;
  const skippedEmail = isNewEmail && (await findUserByEmail(trx, profile.email)) !== undefined;
  const email = isNewEmail && !skippedEmail ? profile.email : user.email;
  // A verified address stays verified. Whether a new one is verified, the marketplace says.
  const stillVerifiedAt = email === user.email ? user.emailVerifiedAt : null;
  const isVerifiedThere = profile.email_verified && email === profile.email;
  await updateUser(trx, user.id, {
    name: user.nameEditedAt ? user.name : profile.name,
    email,
    emailVerifiedAt: stillVerifiedAt ?? (isVerifiedThere ? now : null),
  });
  return skippedEmail;
}

function readAccount({ role, account }: MarketplaceProfile, now: Date) {
  const granted = readCapabilities(account.capabilities);
  const isBareMerchant = role === 'merchant' && granted.length === 0;
  const capabilities: Capability[] = isBareMerchant ? ['manage_storefront'] : granted;
  return { capabilities, verifiedAt: granted.includes('sell_products') ? now : null };
}

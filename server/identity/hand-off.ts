// What a profile from the marketplace does here (contract section 6): the table of cases, and master data.
//
// Identity is the marketplace's id, never the e-mail address. The rules run inside the caller's transaction and
// hold the rows they decide on, so that of many hand-offs at once each sees what the one before left.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { insertAccount, updateAccountFromMarketplace } from '../../db/accounts.ts';
import { findExternalId, insertLink, setLinkApplied } from '../../db/external-links.ts';
import type { DB } from '../../db/schema.ts';
import { LostRace } from '../../db/transactions.ts';
import {
  type HandOffUser,
  insertUser,
  isEmailTaken,
  type LinkedUser,
  lockLinkedUser,
  lockUser,
  updateUser,
} from '../../db/users.ts';
import { AppError } from '../errors.ts';
import type { MarketplaceProfile } from './marketplace-payload.ts';

export const provider = 'marketplace';

export type HandOffOutcome =
  | {
      kind: 'accepted';
      userId: string;
      /** `stale`: not newer than what was applied before, so nothing changed. */
      change: 'created' | 'linked' | 'updated' | 'stale';
      /** A new address that belongs to somebody else here. */
      skippedEmail: boolean;
    }
  /** The address has a password here: nobody is linked before that user proves it. */
  | { kind: 'proof_needed'; userId: string };

/**
 * Applies one profile; `known` is who has it here already, held. Throws 403 `admin_not_allowed`, `account_suspended`
 * or `email_unverified`, and 409 `email_in_use`.
 */
export async function acceptProfile(
  trx: Transaction<DB>,
  profile: MarketplaceProfile,
  known: LinkedUser | undefined,
  now: Date,
): Promise<HandOffOutcome> {
  if (known) {
    const user = requireAllowed(known);
    if (known.appliedProfileUpdatedAt && profile.profile_updated_at <= known.appliedProfileUpdatedAt) {
      return { kind: 'accepted', userId: user.id, change: 'stale', skippedEmail: false };
    }
    const skippedEmail = await applyProfile(trx, user, profile, now);
    return { kind: 'accepted', userId: user.id, change: 'updated', skippedEmail };
  }

  const found = await lockUser(trx, { email: profile.email });
  if (!found) {
    const userId = await createUser(trx, profile, now);
    return { kind: 'accepted', userId, change: 'created', skippedEmail: false };
  }
  const user = requireAllowed(found);
  const externalId = await findExternalId(trx, provider, user.id);
  // Linked while this one waited for the user: by the same person's other hand-off.
  if (externalId === profile.id) throw new LostRace();
  if (externalId !== undefined) throw new AppError('email_in_use', { reason: 'other_marketplace_link' });
  if (user.hasPassword) return { kind: 'proof_needed', userId: user.id };
  // Somebody who merely typed this address over there must not get the customer of that address here.
  if (!profile.email_verified) throw new AppError('email_unverified', { reason: 'link_by_unverified_email' });
  await linkUser(trx, user, profile, now);
  return { kind: 'accepted', userId: user.id, change: 'linked', skippedEmail: false };
}

/** After the password was proved. False where that id or that user has been linked otherwise meanwhile. */
export async function finishLink(
  trx: Transaction<DB>,
  userId: string,
  profile: MarketplaceProfile,
  now: Date,
): Promise<boolean> {
  if (await lockLinkedUser(trx, provider, profile.id)) return false;
  const user = await lockUser(trx, { id: userId });
  if (!user) throw new Error('a pending link without its user');
  requireAllowed(user);
  if ((await findExternalId(trx, provider, userId)) !== undefined) return false;
  await linkUser(trx, user, profile, now);
  return true;
}

function requireAllowed(user: HandOffUser): HandOffUser {
  if (user.role !== 'user') throw new AppError('admin_not_allowed', { reason: `role_${user.role}` });
  if (user.isSuspended) throw new AppError('account_suspended', { reason: 'suspended' });
  return user;
}

async function createUser(trx: Transaction<DB>, profile: MarketplaceProfile, now: Date): Promise<string> {
  const [id, accountId] = [uuidv7(), uuidv7()];
  const { capabilities, verifiedAt } = readAccount(profile, now);
  const name = profile.account.name ?? profile.name;
  await insertAccount(trx, { id: accountId, name, capabilities, verifiedAt });
  await insertUser(trx, {
    id,
    accountId,
    email: profile.email,
    name: profile.name,
    // Whatever role the payload names: no hand-off makes an administrator.
    role: 'user',
    passwordHash: null,
    emailVerifiedAt: profile.email_verified ? now : null,
  });
  await insertLink(trx, { provider, externalId: profile.id, userId: id });
  await setLinkApplied(trx, provider, profile.id, profile.profile_updated_at);
  return id;
}

async function linkUser(trx: Transaction<DB>, user: HandOffUser, profile: MarketplaceProfile, now: Date) {
  await insertLink(trx, { provider, externalId: profile.id, userId: user.id });
  await applyProfile(trx, user, profile, now);
}

/** Writes what the marketplace masters; whether a new address had to be skipped. */
async function applyProfile(
  trx: Transaction<DB>,
  user: HandOffUser,
  profile: MarketplaceProfile,
  now: Date,
): Promise<boolean> {
  await updateAccountFromMarketplace(trx, user.accountId, {
    name: profile.account.name,
    ...readAccount(profile, now),
  });
  const isNewEmail = profile.email !== user.email;
  const skippedEmail = isNewEmail && (await isEmailTaken(trx, profile.email));
  const email = isNewEmail && !skippedEmail ? profile.email : user.email;
  // A verified address stays verified; a new one is what the marketplace says it is.
  const stillVerifiedAt = email === user.email ? user.emailVerifiedAt : null;
  const isVerifiedThere = profile.email_verified && email === profile.email;
  await updateUser(trx, user.id, {
    name: user.nameEditedAt ? user.name : profile.name,
    email,
    emailVerifiedAt: stillVerifiedAt ?? (isVerifiedThere ? now : null),
  });
  await setLinkApplied(trx, provider, profile.id, profile.profile_updated_at);
  return skippedEmail;
}

/** The known ones. */
export const capabilities = ['manage_storefront', 'sell_media_inventory', 'sell_products', 'sell_services'];

function readAccount({ role, account }: MarketplaceProfile, now: Date) {
  const granted = capabilities.filter((name) => account.capabilities.includes(name));
  const isBareMerchant = role === 'merchant' && granted.length === 0;
  return {
    capabilities: isBareMerchant ? ['manage_storefront'] : granted,
    verifiedAt: granted.includes('sell_products') ? now : null,
  };
}

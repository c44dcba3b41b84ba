// A customer: a user with an account of their own. Every new customer is made here.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { DB } from '../../../db/schema.ts';
import { deferAccount } from '../../../db/tables/accounts.ts';
import { deferUser, type InternalRole, type User } from '../../../db/tables/users.ts';
import type { Capability } from './capabilities.ts';

export type NewCustomer = {
  email: string;
  /** False for an address that somebody merely typed. */
  holdsEmail: boolean;
  /** Null until the owner has proved the address. */
  emailVerifiedAt: Date | null;
  name: string;
  /** `user` if not given. */
  role?: InternalRole;
  passwordHash?: string;
  suspendedAt?: Date;
  account: { name: string; capabilities?: readonly Capability[]; verifiedAt?: Date | null };
};

/** Whether the user can log in by themselves, without another product's word for who they are. */
export const hasOwnLogin = (user: Pick<User, 'hasPassword' | 'hasPasskey'>) =>
  user.hasPassword || user.hasPasskey;

/**
 * Whether the user never had a way to log in by themselves. A mail may add a passkey for such a user, and a hand-off is
 * enough. A user whose password no longer counts is not one of them: the mail or the hand-off would get round an
 * authenticator app that is left.
 */
export const isNewcomer = (user: Pick<User, 'hadPassword' | 'hasPasskey'>) =>
  !user.hadPassword && !user.hasPasskey;

export type CustomerIds = { id: string; accountId: string };

/** Makes a customer. If somebody else holds the address, a unique index fails the transaction. Ids are new unless given. */
export async function createCustomer(
  trx: Transaction<DB>,
  { account, ...user }: NewCustomer,
  ids: CustomerIds = { id: uuidv7(), accountId: uuidv7() },
): Promise<CustomerIds> {
  deferAccount(trx, {
    id: ids.accountId,
    name: account.name,
    capabilities: [...(account.capabilities ?? [])],
    verifiedAt: account.verifiedAt ?? null,
  });
  deferUser(trx, {
    ...ids,
    email: user.email,
    holdsEmail: user.holdsEmail,
    name: user.name,
    role: user.role ?? 'user',
    passwordHash: user.passwordHash ?? null,
    emailVerifiedAt: user.emailVerifiedAt,
    suspendedAt: user.suspendedAt ?? null,
  });
  return ids;
}

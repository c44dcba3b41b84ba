// A customer is a user with an account of their own. Every new customer is made here.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import type { DB } from '../../../db/schema.ts';
import { deferAccount } from '../../../db/tables/accounts.ts';
import { deferUser, type InternalRole, type User } from '../../../db/tables/users.ts';
import type { Capability } from './capabilities.ts';

export type NewCustomer = {
  email: string;
  /** False if somebody merely typed the address. */
  holdsEmail: boolean;
  emailVerifiedAt: Date | null;
  name: string;
  role?: InternalRole;
  passwordHash?: string;
  suspendedAt?: Date;
  account: { name: string; capabilities?: readonly Capability[]; verifiedAt?: Date | null };
};

/** Returns whether the user can log in here by themselves, without a hand-off from another product. */
export const hasOwnLogin = (user: Pick<User, 'hasPassword' | 'hasPasskey'>) =>
  user.hasPassword || user.hasPasskey;

/**
 * A newcomer has no passkey and never had a password. Other users may have an authenticator app, and no mail may bypass the
 * app.
 */
export const isNewcomer = (user: Pick<User, 'hadPassword' | 'hasPasskey'>) =>
  !user.hadPassword && !user.hasPasskey;

export type CustomerIds = { id: string; accountId: string };

/** If somebody else holds the address, a unique index fails the transaction. */
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

// A customer is a user with an account of their own. Every new customer is made here.
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
  emailVerifiedAt: Date | null;
  name: string;
  role?: InternalRole;
  passwordHash?: string;
  suspendedAt?: Date;
  account: { name: string; capabilities?: readonly Capability[]; verifiedAt?: Date | null };
};

/** Whether the user can log in without another product's word for who they are. */
export const hasOwnLogin = (user: Pick<User, 'hasPassword' | 'hasPasskey'>) =>
  user.hasPassword || user.hasPasskey;

/** If there was a password that no longer counts, a mail or hand-off must not get round an authenticator app that is left. */
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

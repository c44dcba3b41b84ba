// If a signup created a customer, a later report of that signup corrects the person's name and email address (contract 7.536
// and 7.537). It does so only while the person cannot have logged in and nobody has edited the person here. No report changes
// the name or email address of anybody else.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { updateAccountNameUnlessEdited } from '../../../db/tables/accounts.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { listExternalLinks } from '../../../db/tables/external-links.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import { type Contract, hasMadeAccount } from '../../../db/tables/service-contracts.ts';
import { findUserById, lockUser, type User, updateUser } from '../../../db/tables/users.ts';
import { keepTrace, voidMails } from '../../identity/ground/address-proof.ts';
import { isNewcomer } from '../../identity/ground/customers.ts';
import { canGetMail } from '../../identity/ground/email-address.ts';
import type { Config } from '../../settings/config.ts';
import type { Trace } from '../../web/trace-context.ts';
import type { Signup } from '../contracts/signup-message.ts';

type Correction = { contract: Contract; signup: Signup; now: Date; trace: Trace | undefined };

/**
 * `trx` has locked the contract. Returns the JSON pointers of values that were not stored: the pointer of the email address if
 * somebody else has that address, or if it cannot get mail.
 */
export async function correctCustomer(
  trx: Transaction<DB>,
  config: Pick<Config, 'production'>,
  { contract, signup: { user: said, account }, now, trace }: Correction,
): Promise<string[]> {
  const present = await findUserById(trx, contract.userId);
  if (!present || hasArrived(present) || isSame(present, said, account.name)) return [];
  if (!(await hasMadeAccount(trx, contract.id))) return [];
  const user = await lockUser(trx, { id: present.id });
  if (!user || hasArrived(user) || (await listExternalLinks(trx, user.id)).length > 0) return [];
  if (user.name !== said.name) await updateUser(trx, user.id, { name: said.name });
  if (user.account.name !== account.name)
    await updateAccountNameUnlessEdited(trx, user.account.id, account.name);
  if (user.email === said.email) return [];
  if (!canGetMail(said.email, config) || (await findAddressOwner(trx, said.email, now)))
    return ['/user/email'];
  // Links that were mailed to the wrong address must not open the account.
  await voidMails(trx, user.id, 'address_changed');
  await updateUser(trx, user.id, { email: said.email });
  deferWelcome(trx, { userId: user.id, recipient: said.email, contract: contract.id, now, trace });
  return [];
}

type Welcome = { userId: string; recipient: string; contract: string; now: Date; trace: Trace | undefined };

export const deferWelcome = (trx: Transaction<DB>, { contract, trace, ...mail }: Welcome): void =>
  deferMail(trx, { kind: 'welcome', ...mail, details: { ...keepTrace(trace), contract } });

/**
 * Returns whether the person may have logged in, or somebody has edited the person here. Without a password, a passkey, a
 * proved email address or a marketplace link, nobody can log in.
 */
const hasArrived = (user: User): boolean =>
  !isNewcomer(user) || user.emailVerifiedAt !== null || user.nameEditedAt !== null || user.role !== 'user';

const isSame = (user: User, said: Signup['user'], accountName: string): boolean =>
  user.email === said.email && user.name === said.name && user.account.name === accountName;

// What a signup does here: a customer (user and account), a service contract, and a mail to who is new.
//
// The rules run inside the caller's transaction. Of many signups at once that reach for one e-mail address or
// one signup id, a unique index lets one through; the others run again and find what it left.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { insertAccount } from '../../db/accounts.ts';
import { insertMail } from '../../db/mails.ts';
import type { DB } from '../../db/schema.ts';
import { type Contract, insertContract, lockContract, updateContract } from '../../db/service-contracts.ts';
import { findUserByEmail, insertUser } from '../../db/users.ts';
import { applyReport, presentStatus } from './contract-states.ts';
import { invoiceBegun } from './invoicing.ts';
import { readReport, type Signup } from './signup.ts';

export type SignupOutcome = {
  contract: Contract;
  change: 'created' | 'updated' | 'unchanged';
  isNewCustomer: boolean;
};

export async function acceptSignup(trx: Transaction<DB>, signup: Signup, now: Date): Promise<SignupOutcome> {
  const report = readReport(signup);
  let known = await lockContract(trx, { signupId: signup.signup_id });
  if (known && applyReport(known, report, now)) {
    // What had begun before the change is invoiced as it was, however late the job is.
    known = await invoiceBegun(trx, known, report.occurredAt < now ? report.occurredAt : now, now);
  }
  const terms = applyReport(known, report, now);
  if (known) {
    if (!terms) return { contract: known, change: 'unchanged', isNewCustomer: false };
    await updateContract(trx, known.id, terms);
    return { contract: { ...known, ...terms }, change: 'updated', isNewCustomer: false };
  }
  if (!terms) throw new Error('a first report always makes a contract');
  const customer = await findUserByEmail(trx, signup.user.email);
  const { id: userId, accountId } = customer ?? (await createCustomer(trx, signup, now));
  const contract = { id: uuidv7(), userId, accountId, signupId: signup.signup_id, ...terms };
  await insertContract(trx, contract);
  return { contract, change: 'created', isNewCustomer: !customer };
}

async function createCustomer(trx: Transaction<DB>, { user, account }: Signup, now: Date) {
  const [id, accountId] = [uuidv7(), uuidv7()];
  await insertAccount(trx, { id: accountId, name: account.name, capabilities: [], verifiedAt: null });
  await insertUser(trx, {
    id,
    accountId,
    email: user.email,
    name: user.name,
    role: 'user',
    passwordHash: null,
    emailVerifiedAt: null,
  });
  await insertMail(trx, {
    id: uuidv7(),
    kind: 'welcome',
    userId: id,
    recipient: user.email,
    details: { name: user.name, accountName: account.name },
    now,
  });
  return { id, accountId };
}

/** The answer's body (contract section 7). */
export function describeOutcome({ contract, change, isNewCustomer }: SignupOutcome, now: Date) {
  return {
    signup_id: contract.signupId,
    user: { id: contract.userId, created: isNewCustomer },
    account: { id: contract.accountId, created: isNewCustomer },
    contract: {
      id: contract.id,
      status: presentStatus(contract, now),
      plan: contract.plan,
      trial_ends_at: contract.trialEndsAt?.toISOString() ?? null,
      created: change === 'created',
    },
  };
}

// What a signup does here: a customer (user and account), a service contract, and a mail to who is new.
//
// The rules run inside the caller's transaction. Of many signups at once that reach for one e-mail address or
// one signup id, a unique index lets one through; the others run again and find what it left.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { insertAccount } from '../../db/accounts.ts';
import { hasDueInvoice } from '../../db/invoices.ts';
import { insertMail } from '../../db/mails.ts';
import type { DB } from '../../db/schema.ts';
import { type Contract, insertContract, lockContract, updateContract } from '../../db/service-contracts.ts';
import { findUserByEmail, insertUser } from '../../db/users.ts';
import { applyReport, presentStatus, type Report } from './contract-states.ts';
import { invoiceBegun } from './invoicing.ts';
import { readReport, type Signup } from './signup.ts';

export type SignupOutcome = {
  contract: Contract;
  change: 'created' | 'updated' | 'unchanged';
  isNewCustomer: boolean;
};

export async function acceptSignup(trx: Transaction<DB>, signup: Signup, now: Date): Promise<SignupOutcome> {
  const report = readReport(signup);
  const [known, customer] = await Promise.all([
    lockContract(trx, { signupId: signup.signup_id }),
    findUserByEmail(trx, signup.user.email),
  ]);
  if (known) return updateKnown(trx, known, report, now);
  const terms = applyReport(undefined, report, now);
  if (!terms) throw new Error('a first report always makes a contract');
  const { id: userId, accountId } = customer ?? (await createCustomer(trx, signup, now));
  const contract = { id: uuidv7(), userId, accountId, signupId: signup.signup_id, ...terms };
  await insertContract(trx, contract);
  return { contract, change: 'created', isNewCustomer: !customer };
}

async function updateKnown(
  trx: Transaction<DB>,
  known: Contract,
  report: Report,
  now: Date,
): Promise<SignupOutcome> {
  const { status } = applyReport(known, report, now) ?? {};
  if (!status) return { contract: known, change: 'unchanged', isNewCustomer: false };
  // What had begun before the change is invoiced as it was, however late the job is.
  const until = report.occurredAt < now ? report.occurredAt : now;
  const { nextPeriodStartsAt } = await invoiceBegun(trx, { ...known, status }, until, now);
  const terms = applyReport({ ...known, nextPeriodStartsAt }, report, now);
  if (!terms) throw new Error('what may be applied before invoicing may be so after it');
  // The CRM does not know of payments: while one is overdue, the contract stays what the job would make it.
  const isOverdue = known.status === 'past_due' && (await hasDueInvoice(trx, known.id, now));
  const contract: Contract = { ...known, ...terms, ...(isOverdue && { status: 'past_due' }) };
  await updateContract(trx, known.id, contract);
  return { contract, change: 'updated', isNewCustomer: false };
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

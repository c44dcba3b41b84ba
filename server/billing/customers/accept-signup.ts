// Accepts signups from the CRM. If many signups with the same email address or signup id arrive at the same time, a unique
// index lets only one transaction commit. The other transactions run again, and find the rows of the first one.
import type { Transaction } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { DB } from '../../../db/schema.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import {
  type ContractCharge,
  findCharges,
  insertCharges,
  lapseCharges,
} from '../../../db/tables/contract-charges.ts';
import { isPastDue } from '../../../db/tables/invoices.ts';
import {
  type Contract,
  deferContract,
  type Ending,
  lockContract,
  setCreditFrom,
  setEnding,
  updateContract,
} from '../../../db/tables/service-contracts.ts';
import { listWaitingPeriods, setWaitingPeriods } from '../../../db/tables/waiting-periods.ts';
import { invalidMember } from '../../basics/errors.ts';
import { createCustomer } from '../../identity/ground/customers.ts';
import { canGetMail } from '../../identity/ground/email-address.ts';
import { notify } from '../../identity/ground/notices.ts';
import type { Config } from '../../settings/config.ts';
import { userIdSchema, wireInstantSchema } from '../../sso/payload.ts';
import type { Trace } from '../../web/trace-context.ts';
import { contractStatusSchema, describeContract } from '../contracts/contract-list.ts';
import {
  applyReport,
  findIdleReason,
  hasNoPeriods,
  type IdleReason,
  idleReasons,
  type Report,
  readEnd,
  settleCancelsAt,
  takeFirstPeriod,
} from '../contracts/contract-states.ts';
import {
  chargeSchema,
  planSchema,
  priceSchema,
  readCharges,
  readReport,
  type Signup,
  signupIdSchema,
} from '../contracts/signup-message.ts';
import { invoiceBegun } from '../invoices/invoicing.ts';
import { findZone } from '../invoices/issue.ts';
import { findPeriodsEnd } from '../values/periods.ts';
import { correctCustomer, deferWelcome } from './correct-customer.ts';
import { fillDetails } from './signup-details.ts';

export type SignupOutcome = {
  contract: Contract;
  change: 'created' | 'updated' | 'unchanged';
  /** The charges that the report names. If an earlier report named a charge, the charge keeps the facts of that report. */
  charges: ContractCharge[];
  reason?: IdleReason;
  isNewCustomer: boolean;
  /** JSON pointers to the parts of `account.billing` that were left out. */
  ignored: string[];
};

/** Throws 422 `validation_failed` for a new customer whose email address cannot get mail. */
export async function acceptSignup(
  trx: Transaction<DB>,
  config: Pick<Config, 'production'>,
  signup: Signup,
  now: Date,
  trace?: Trace,
): Promise<SignupOutcome> {
  const report = readReport(signup);
  const [known, customer] = await Promise.all([
    lockContract(trx, { signupId: signup.signup_id }),
    findAddressOwner(trx, signup.user.email, now),
  ]);
  const fill = (contract: Contract) =>
    fillDetails(trx, config, { contract, billing: signup.account.billing, now, trace });
  const keepCharges = async (contract: Contract) => {
    const charges = readCharges(signup);
    await insertCharges(trx, contract.id, charges);
    if (hasNoPeriods(contract)) await lapseCharges(trx, contract.id);
    return findCharges(
      trx,
      contract.id,
      charges.map(({ id }) => id),
    );
  };
  if (known) {
    // If the report ends the contract, the charges in the report belong on the last invoice. So they are stored before that
    // invoice is issued.
    if (readEnd(report, now)) await insertCharges(trx, known.id, readCharges(signup));
    const outcome = await updateKnown(trx, known, report, now);
    const charges = await keepCharges(outcome.contract);
    if (outcome.change !== 'updated') return { ...outcome, charges, ignored: [] };
    const ignored = await correctCustomer(trx, config, { contract: known, signup, now, trace });
    return { ...outcome, charges, ignored: [...ignored, ...(await fill(known))] };
  }
  const zone = await findZoneFor(trx, report);
  const { terms, first } = takeFirstPeriod(undefined, applyReport(undefined, report, { now, zone }), now);
  const id = uuidv7();
  const { id: userId, accountId } = customer
    ? { id: customer.id, accountId: customer.account.id }
    : await welcomeCustomer(trx, config, signup, id, now, trace);
  const ending = settleCancelsAt(undefined, report, now);
  const contract = { id, userId, accountId, signupId: signup.signup_id, ...terms, ...ending };
  deferContract(trx, contract);
  const charges = await keepCharges(contract);
  if (first) await setWaitingPeriods(trx, id, [first], undefined);
  if (customer)
    await notify(trx, { now: () => now }, customer, 'contract_added', undefined, { contract: id });
  return { contract, change: 'created', charges, isNewCustomer: !customer, ignored: await fill(contract) };
}

/**
 * Reads the seller's zone only for a report that may begin periods, or that says when periods end. Other reports need no zone.
 */
const findZoneFor = async (trx: Transaction<DB>, { status, price, cancelsAt }: Report): Promise<string> =>
  (status === 'active' && price) || cancelsAt ? findZone(trx) : 'UTC';

async function updateKnown(
  trx: Transaction<DB>,
  known: Contract,
  report: Report,
  now: Date,
): Promise<Omit<SignupOutcome, 'ignored' | 'charges'>> {
  const reason = findIdleReason(known, report, now);
  if (reason) return { contract: known, change: 'unchanged', reason, isNewCustomer: false };
  const at = { now, zone: await findZoneFor(trx, report) };
  const { status: reported } = applyReport(known, report, at);
  const endsAt = readEnd(report, now);
  const isEnding = endsAt !== undefined;
  const ending = settleCancelsAt(known, report, now);
  // The CRM does not know about payments. So while an invoice is overdue, a past-due contract stays past due, even if the
  // report says `active`.
  const isOverdue =
    known.status === 'past_due' && reported === 'active' && (await isPastDue(trx, known.id, now));
  const status = isOverdue ? 'past_due' : reported;
  // The billing job may not have invoiced all periods that began before this report. These periods are invoiced here, at their
  // old price.
  const { reportedCancelsAt } = ending;
  const before = {
    ...{ ...known, status: isEnding ? known.status : status },
    ...(endsAt && { cancelsAt: endsAt, reportedCancelsAt }),
  };
  const { nextPeriodStartsAt } = await invoiceBegun(trx, before, { now, isEnding });
  const billed = { ...known, nextPeriodStartsAt };
  const { terms, first } = takeFirstPeriod(billed, applyReport(billed, report, at), now);
  const contract = { ...known, ...terms, status, ...ending };
  await updateContract(trx, known.id, contract);
  if (first)
    await setWaitingPeriods(trx, known.id, [...(await listWaitingPeriods(trx, known.id)), first], undefined);
  if (!isSameEnd(known, ending)) await setEnding(trx, known.id, ending);
  if (endsAt) await setCreditFrom(trx, known.id, findPeriodsEnd(at.zone, before));
  return { contract, change: 'updated', isNewCustomer: false };
}

const isSameEnd = (one: Ending, other: Ending): boolean =>
  one.cancelsAt?.getTime() === other.cancelsAt?.getTime() &&
  one.reportedCancelsAt?.getTime() === other.reportedCancelsAt?.getTime() &&
  one.chosenCancelsAt?.getTime() === other.chosenCancelsAt?.getTime();

async function welcomeCustomer(
  trx: Transaction<DB>,
  config: Pick<Config, 'production'>,
  { user, account }: Signup,
  contract: string,
  now: Date,
  trace: Trace | undefined,
) {
  if (!canGetMail(user.email, config))
    throw invalidMember('/user/email', 'Must be an address that mail can be sent to.');
  const ids = await createCustomer(trx, { ...user, holdsEmail: true, emailVerifiedAt: null, account });
  deferWelcome(trx, { userId: ids.id, recipient: user.email, contract, now, trace });
  return ids;
}

export const signupAnswerSchema = z
  .object({
    signup_id: signupIdSchema,
    applied: z.boolean().describe('Whether this report was stored. If not, `reason` says why.'),
    reason: z
      .enum(idleReasons)
      .optional()
      .describe(
        'Only where it was not stored: it is `older` than the last one stored, or of the `same_time`; the contract has `ended`; or its state does not allow the move (`not_allowed`). There may be more one day.',
      ),
    user: z.object({ id: userIdSchema, created: z.boolean() }),
    account: z.object({ id: z.uuid(), created: z.boolean() }),
    contract: z.object({
      id: z.uuid(),
      status: contractStatusSchema,
      plan: planSchema,
      trial_ends_at: wireInstantSchema.nullable(),
      cancels_at: wireInstantSchema.nullable(),
      price: priceSchema.nullable(),
      charges: z
        .array(chargeSchema)
        .describe('The charges of the report that are on record, each as it was first reported.'),
      created: z.boolean(),
    }),
    ignored: z
      .array(z.string())
      .optional()
      .describe(
        'Only where something was left out: JSON pointers to parts of `account.billing`, or to an address that is not free.',
      ),
  })
  .describe('What became of a signup.');

/** Returns the body of the answer (contract 7.13 to 7.15). */
export function describeOutcome(
  { contract, change, charges, reason, isNewCustomer, ignored }: SignupOutcome,
  now: Date,
): z.infer<typeof signupAnswerSchema> {
  const { signup_id, user_id, occurred_at: _, ...described } = describeContract(contract, now);
  return {
    signup_id,
    applied: change !== 'unchanged',
    ...(reason && { reason }),
    user: { id: user_id, created: isNewCustomer },
    account: { id: contract.accountId, created: isNewCustomer },
    contract: {
      ...described,
      charges: charges.map(({ id, title, unitAmount, quantity, due }) => ({
        ...{ id, title, unit_amount: unitAmount, quantity, when: due },
      })),
      created: change === 'created',
    },
    ...(ignored.length > 0 && { ignored }),
  };
}

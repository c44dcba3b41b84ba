// A signup message from the CRM (contract 7.5 to 7.12): its schema, and the words for everything that can be wrong with it.
import { z } from 'zod';
import type { ContractCharge } from '../../../db/tables/contract-charges.ts';
import type { Price } from '../../../db/tables/service-contracts.ts';
import { isCurrency } from '../../basics/currencies.ts';
import { AppError, toFieldErrors } from '../../basics/errors.ts';
import { instantSchema } from '../../basics/instant.ts';
import { isObject } from '../../basics/is-object.ts';
import { nameSchema } from '../../basics/names.ts';
import { emailSchema } from '../../identity/ground/email-address.ts';
import { listFractions, parseStrictJson, StrictJsonError } from '../../sso/strict-json.ts';
import { maxAmount } from '../values/amounts.ts';
import { billingTextSchema } from '../values/billing-text.ts';
import type { Report } from './contract-states.ts';
import { signupBillingSchema } from './signup-billing.ts';

const leewayMs = 300_000;

const notACurrency = 'Must be an ISO 4217 currency code, such as EUR.';

export const currencySchema = z
  .string()
  .max(100, { error: notACurrency, abort: true })
  .refine(isCurrency, notACurrency)
  .meta({ pattern: '^[A-Z]{3}$' })
  .describe('An assigned ISO 4217 code.');

const notWhole = 'Must be a whole number of minor units, such as 2900 for 29.00 EUR.';

const quantitySchema = z
  .int('Must be a whole number.')
  .min(1, 'Must be 1 or more.')
  .max(100_000, 'Must be 100000 or less.');

type Priced = { unit_amount: number; quantity?: number | null | undefined };

/**
 * Returns whether price times quantity is too high. Returns false for a quantity of 1, because messages without a quantity are
 * older than this limit and must stay valid. If the price alone is too high, the periods are blocked instead.
 */
const isTooMuch = ({ unit_amount, quantity }: Priced) =>
  (quantity ?? 1) > 1 && Math.abs(unit_amount) * (quantity ?? 1) > maxAmount;

const tooMuch = 'Makes more than 1000000000000 minor units with this unit_amount.';

export const priceSchema = z
  .object({
    currency: currencySchema,
    unit_amount: z
      .int(notWhole)
      .min(0, 'Must not be negative.')
      .describe('Of one, in minor units: 2900 is 29.00 EUR. Written as an integer: 2900.0 is refused.'),
    interval: z.enum(['month', 'year'], 'Must be month or year.'),
    quantity: quantitySchema.nullish().describe('How many. 1 if absent.'),
  })
  .refine((price) => !isTooMuch(price), { path: ['quantity'], error: tooMuch });

/** An id that another system has given, such as the CRM's id for a signup. */
export const foreignIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'Must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -');

export const chargeSchema = z.object({
  id: foreignIdSchema.describe(
    'The CRM’s own name for the charge. Each counts once for ever in its contract.',
  ),
  title: billingTextSchema(200).describe('What the line of the invoice says.'),
  unit_amount: z
    .int(notWhole)
    .min(-maxAmount, 'Must not be below -1000000000000.')
    .max(maxAmount, 'Must not be above 1000000000000.')
    .refine((amount) => amount !== 0, 'Must not be 0.')
    .describe('Of one, in minor units of the price’s currency. Below 0 it is a deduction.'),
  quantity: quantitySchema.nullish().describe('How many. 1 if absent.'),
  when: z
    .enum(['now', 'next'], 'Must be now or next.')
    .describe('`now`: at once. `next`: on the invoice of the next period.'),
});

const chargesSchema = z
  .array(chargeSchema.refine((charge) => !isTooMuch(charge), { path: ['quantity'], error: tooMuch }))
  .max(100, 'Must be at most 100 charges.')
  .superRefine((charges, context) => {
    for (const [at, { id }] of charges.entries())
      if (charges.findIndex((other) => other.id === id) < at)
        context.addIssue({
          code: 'custom',
          path: [at, 'id'],
          message: 'Must be another id than those before.',
        });
  });

export const planSchema = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/, 'Must be 1 to 64 of the characters a-z 0-9 _ -');

export const signupIdSchema = foreignIdSchema.describe(
  'The CRM’s own name for the signup. Its contract keeps it for ever.',
);

const hasInstants = (value: unknown) =>
  isObject(value) &&
  value.occurred_at instanceof Date &&
  isObject(value.contract) &&
  value.contract.trial_ends_at instanceof Date;

const contractSchema = z
  .object({
    plan: planSchema,
    status: z.enum(['trialing', 'active', 'canceled'], 'Must be trialing, active or canceled.'),
    trial_ends_at: instantSchema
      .nullish()
      .describe(
        'While trialing it is required, and later than `occurred_at`. In any other state it may be any time, is kept, and ends nothing.',
      ),
    cancels_at: instantSchema
      .nullish()
      .describe(
        'When the contract ends. No period begins on that day or later. Absent, an end reported before is gone.',
      ),
    price: priceSchema.nullish(),
    charges: chargesSchema
      .nullish()
      .describe(
        'What is charged or deducted besides the price, in its currency. They count also if the report is not stored.',
      ),
  })
  .refine(({ price, charges }) => !charges?.length || Boolean(price), {
    path: ['price'],
    error: 'Required with charges: it says their currency.',
    when: ({ value }) => isObject(value) && Array.isArray(value.charges) && (value.price ?? null) === null,
  })
  .refine(({ status, trial_ends_at }) => status !== 'trialing' || (trial_ends_at ?? null) !== null, {
    path: ['trial_ends_at'],
    error: 'Required when status is trialing.',
    // This check runs even if there are other faults, so that one answer lists all faults.
    when: ({ value }) => isObject(value),
  })
  .meta({
    if: { properties: { status: { const: 'trialing' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { trial_ends_at: { type: 'string' } }, required: ['trial_ends_at'] },
  });

export const signupSchema = z
  .object({
    signup_id: signupIdSchema,
    // A time before the year 2000 probably comes from a clock that was never set. Billing would start at that time.
    occurred_at: instantSchema
      .refine((at) => at.getUTCFullYear() >= 2_000, 'Must not be before the year 2000.')
      .describe('When it happened: at most 300 seconds ahead of our clock, and not before the year 2000.'),
    user: z.object({ email: emailSchema, name: nameSchema }),
    account: z.object({ name: nameSchema, billing: signupBillingSchema.optional() }),
    contract: contractSchema,
  })
  .refine(
    // Only a trial must end after `occurred_at`. In other states the trial may have ended long before, and a CRM that always
    // sends the whole contract sends that end, too.
    ({ occurred_at, contract: { status, trial_ends_at } }) =>
      status !== 'trialing' || !trial_ends_at || trial_ends_at > occurred_at,
    {
      path: ['contract', 'trial_ends_at'],
      error: 'Must be after occurred_at.',
      when: ({ value }) => hasInstants(value),
    },
  )
  .describe('A signup or trial, or a change of its contract. Unknown members are ignored.');

export type Signup = z.infer<typeof signupSchema>;

export const readSignup = (body: Uint8Array, now: Date): Signup =>
  readMessage(signupSchema, body, 'occurred_at', now);

/**
 * Members that must be written without a decimal point. Somebody who writes 79.00 means 79 euros, but JSON reads 79.00 as 79,
 * which would mean 79 cents.
 */
const writtenAsIntegers = /^\/(amount|contract\/(price|charges\/\d+))\/(unit_amount|quantity)$/;

/**
 * `timed` is the name of a member with a time. If that time is in the future, the message is refused. Throws 400
 * `malformed_json`, or 422 `validation_failed` with all faults.
 */
export function readMessage<T>(schema: z.ZodType<T>, body: Uint8Array, timed: string, now: Date): T {
  const message = readStrictJson(body);
  const result = schema.safeParse(message, { error: describeType });
  const { data: at } = instantSchema.safeParse(isObject(message) ? message[timed] : undefined);
  const isTooLate = at !== undefined && at.getTime() > now.getTime() + leewayMs;
  const errors = result.success ? [] : toFieldErrors(result.error);
  for (const pointer of listFractions(body))
    if (writtenAsIntegers.test(pointer) && !errors.some((error) => error.pointer === pointer))
      errors.push({ pointer, detail: 'Must be written as an integer, such as 2900 for 29.00 EUR.' });
  if (result.success && !isTooLate && errors.length === 0) return result.data;
  if (isTooLate)
    errors.push({ pointer: `/${timed}`, detail: 'Must not be more than 300 seconds in the future.' });
  throw new AppError('validation_failed', { errors });
}

export const describeType: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== 'invalid_type') return undefined;
  return issue.input === undefined ? 'Required.' : `Must be of type ${issue.expected}.`;
};

function readStrictJson(body: Uint8Array): unknown {
  try {
    return parseStrictJson(body);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new AppError('malformed_json', { detail: `The body is not strict JSON: ${error.message}.` });
  }
}

export function readReport({ occurred_at, contract }: Signup): Report {
  const { plan, status, trial_ends_at, cancels_at, price } = contract;
  const quantity = price?.quantity ?? 1;
  return {
    plan,
    status,
    trialEndsAt: trial_ends_at ?? null,
    cancelsAt: cancels_at ?? null,
    price: price
      ? {
          currency: price.currency,
          unitAmount: price.unit_amount * quantity,
          quantity,
          interval: price.interval,
        }
      : null,
    occurredAt: occurred_at,
  };
}

export const readCharges = ({ contract: { price, charges } }: Signup): ContractCharge[] =>
  (price ? (charges ?? []) : []).map(({ id, title, unit_amount, quantity, when }) => ({
    ...{ id, title, currency: price?.currency ?? '', unitAmount: unit_amount },
    ...{ quantity: quantity ?? 1, due: when },
  }));

export const describePrice = (price: Price | null) =>
  price && {
    currency: price.currency,
    unit_amount: price.unitAmount / price.quantity,
    interval: price.interval,
    quantity: price.quantity,
  };

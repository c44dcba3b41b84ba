// A signup message from the CRM (contract 7.5 to 7.12): its schema, and the words for what is wrong with a message.
import { z } from 'zod';
import { isCurrency } from '../../basics/currencies.ts';
import { AppError, toFieldErrors } from '../../basics/errors.ts';
import { instantSchema } from '../../basics/instant.ts';
import { isObject } from '../../basics/is-object.ts';
import { nameSchema } from '../../basics/names.ts';
import { emailSchema } from '../../identity/ground/email-address.ts';
import { parseStrictJson, StrictJsonError } from '../../sso/strict-json.ts';
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

export const priceSchema = z.object({
  currency: currencySchema,
  unit_amount: z
    .int('Must be a whole number of minor units, such as 2900 for 29.00 EUR.')
    .min(0, 'Must not be negative.')
    .describe('In minor units: 2900 is 29.00 EUR.'),
  interval: z.enum(['month', 'year'], 'Must be month or year.'),
});

export const planSchema = z
  .string()
  .regex(/^[a-z0-9_-]{1,64}$/, 'Must be 1 to 64 of the characters a-z 0-9 _ -');

export const signupIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'Must be 1 to 128 of the characters A-Z a-z 0-9 _ . : -')
  .describe('The CRM’s own name for the signup. Its contract keeps it for ever.');

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
    price: priceSchema.nullish(),
  })
  .refine(({ status, trial_ends_at }) => status !== 'trialing' || (trial_ends_at ?? null) !== null, {
    path: ['trial_ends_at'],
    error: 'Required when status is trialing.',
    // This check runs even if there are other faults, so that one answer names all faults.
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
    // An older time probably comes from a clock that was never set. Billing would start at that time.
    occurred_at: instantSchema
      .refine((at) => at.getUTCFullYear() >= 2_000, 'Must not be before the year 2000.')
      .describe('When it happened: at most 300 seconds ahead of our clock, and not before the year 2000.'),
    user: z.object({ email: emailSchema, name: nameSchema }),
    account: z.object({ name: nameSchema, billing: signupBillingSchema.optional() }),
    contract: contractSchema,
  })
  .refine(
    // In other states the trial may have ended long ago. A CRM that always sends the whole contract keeps sending that end.
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

/** The member `timed` must not be in the future. Throws 400 `malformed_json`, or 422 `validation_failed` with all faults. */
export function readMessage<T>(schema: z.ZodType<T>, body: Uint8Array, timed: string, now: Date): T {
  const message = readStrictJson(body);
  const result = schema.safeParse(message, { error: describeType });
  const { data: at } = instantSchema.safeParse(isObject(message) ? message[timed] : undefined);
  const isTooLate = at !== undefined && at.getTime() > now.getTime() + leewayMs;
  if (result.success && !isTooLate) return result.data;
  const errors = result.success ? [] : toFieldErrors(result.error);
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
  const { plan, status, trial_ends_at, price } = contract;
  return {
    plan,
    status,
    trialEndsAt: trial_ends_at ?? null,
    price: price
      ? { currency: price.currency, unitAmount: price.unit_amount, interval: price.interval }
      : null,
    occurredAt: occurred_at,
  };
}

// The settings of billing (contract 7.100 to 7.113): who sells, how documents are numbered, what is taxed, and how to pay.

import { z } from 'zod';
import { isCurrency } from '../../basics/currencies.ts';
import { AppError, type FieldError, toFieldErrors } from '../../basics/errors.ts';
import { readEmailAddress } from '../../identity/ground/email-address.ts';
import { planSchema } from '../contracts/signup-message.ts';
import { readBic, readIban } from '../values/bank-account.ts';
import { billingTextSchema, longestLine } from '../values/billing-text.ts';
import { isCountry } from '../values/countries.ts';
import { isDay } from '../values/days.ts';
import type { Seller, TaxCategory } from '../values/document-facts.ts';
import { isLinkTemplate } from '../values/payment-link.ts';
import { readVatId } from '../values/vat-ids.ts';
import { findFaultsBetween } from './check-settings.ts';

export type TaxRule = {
  /** ISO 3166-1 alpha-2, or `*` for countries without a rule of their own. */
  country: string;
  /** Hundredths of a percent. */
  rate: number;
  category: Exclude<TaxCategory, 'AE'>;
  words?: string | undefined;
  /** The first day, such as 2026-01-01. */
  from: string;
};

export type BillingSettings = {
  seller: Seller;
  /** What numbers of documents begin with. */
  numbers: { invoice: string; credit_note: string };
  /** What plans are called on documents. `price` is in minor units of the seller's currency, for information. */
  plans: Record<string, { title: string; description?: string | undefined; price?: number | undefined }>;
  terms: {
    days_to_pay: number;
    reminder_days: [first: number, second: number];
    past_due_after_days: number;
    customers_may_cancel: boolean;
  };
  tax: { prices: 'net' | 'gross'; rules: TaxRule[]; reverse_charge_words: string };
  payment: { text?: string | undefined; link?: string | undefined };
};

/** What is greater cannot be a price (contract 7.102). */
const maxPrice = 10 ** 12;
const maxRows = 200;

/** A member that may be left out, or be null. */
const optional = <Of extends z.ZodType>(schema: Of) =>
  schema.nullish().transform((value) => value ?? undefined);

/** A text that `read` brings into its usual form, or refuses by giving undefined. */
const readBy = (read: (text: string) => string | undefined, fault: string) =>
  z
    .string()
    .max(1_000, { error: fault, abort: true })
    .transform((text, context) => {
      const value = read(text.trim());
      if (value === undefined) context.addIssue({ code: 'custom', message: fault });
      return value ?? z.NEVER;
    });

const readIf = (isRight: (text: string) => boolean, fault: string) =>
  readBy((text) => (isRight(text) ? text : undefined), fault);

const line = billingTextSchema(longestLine);

const countrySchema = readIf(isCountry, 'Enter the country’s two letters, such as DE.');

const numberSchema = (min: number, max: number) => {
  const fault = `Enter a whole number from ${min} to ${max}.`;
  return z.int(fault).min(min, fault).max(max, fault);
};

function isTimeZone(name: string): boolean {
  // An offset such as +01:00 knows no summer time, and what IST or CST means depends on whom one asks.
  if (!/^(?:UTC|(?!SystemV\/)[A-Za-z]\w*(?:\/[\w+-]+)+)$/.test(name) || name.length > 60) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const sellerSchema = z.strictObject({
  name: billingTextSchema(200),
  address: z.strictObject({
    line1: line,
    line2: optional(line),
    postcode: line,
    city: line,
    country: countrySchema,
  }),
  // Its form depends on the country.
  vat_id: optional(z.string()),
  tax_number: optional(billingTextSchema(30)),
  email: readBy(readEmailAddress, 'Enter an email address in the correct format, like name@example.com.'),
  time_zone: readIf(isTimeZone, 'Enter a time zone by its IANA name, such as Europe/Berlin.'),
  currency: readIf(isCurrency, 'Enter an ISO 4217 currency code, such as EUR.'),
  iban: optional(readBy(readIban, 'Check the IBAN: a letter or digit is wrong.')),
  bic: optional(readBy(readBic, 'Check the BIC: it has 8 or 11 letters and digits.')),
  foot: optional(billingTextSchema(500)),
});

const prefixSchema = readIf(
  (text) => /^[A-Z0-9-]{1,12}$/.test(text),
  'Use 1 to 12 of the characters A-Z 0-9 and the hyphen.',
);

const ruleSchema = z.strictObject({
  country: readIf(
    (text) => text === '*' || isCountry(text),
    'Enter the country’s two letters, such as DE, or * for all other countries.',
  ),
  rate: z
    .int('Enter hundredths of a percent as a whole number from 0 to 10000: 1900 is 19 %.')
    .min(0, 'A rate is not negative.')
    .max(10_000, 'A rate is 100 % at most, which is 10000 in a file.'),
  category: z.enum(['S', 'E', 'O'], 'Choose S (taxed), E (exempt) or O (outside the scope of tax).'),
  words: optional(billingTextSchema(300)),
  from: readIf(
    (text) => text.startsWith('20') && isDay(text),
    'Enter a day from 2000 to 2099, such as 2026-01-01.',
  ),
});

const settingsSchema = z.strictObject({
  seller: sellerSchema,
  numbers: z.strictObject({ invoice: prefixSchema, credit_note: prefixSchema }),
  plans: z
    .record(
      planSchema,
      z.strictObject({
        title: billingTextSchema(200),
        description: optional(billingTextSchema(500)),
        price: optional(numberSchema(0, maxPrice)),
      }),
    )
    .refine((plans) => Object.keys(plans).length <= maxRows, `Use no more than ${maxRows} plans.`),
  terms: z.strictObject({
    days_to_pay: numberSchema(0, 365),
    reminder_days: z.tuple([numberSchema(1, 365), numberSchema(1, 365)], 'Enter two numbers of days.'),
    past_due_after_days: numberSchema(0, 365),
    customers_may_cancel: z.boolean('Choose yes or no: true or false in a file.'),
  }),
  tax: z.strictObject({
    prices: z.enum(['net', 'gross'], 'Choose net (before tax) or gross (with tax).'),
    rules: z.array(ruleSchema).max(maxRows, `Use no more than ${maxRows} rules.`),
    reverse_charge_words: billingTextSchema(300),
  }),
  payment: z.strictObject({
    text: optional(billingTextSchema(500)),
    link: optional(
      readIf(
        isLinkTemplate,
        'Enter an https address. Only {number}, {amount} and {currency} may stand in it, and not in its host.',
      ),
    ),
  }),
});

/** Reads settings. Throws 422 `validation_failed` with everything that is wrong, by JSON pointers. */
export function readSettings(json: unknown): BillingSettings {
  const parsed = settingsSchema.safeParse(json, { error: describeFault });
  const errors = [...(parsed.success ? [] : toErrors(parsed.error)), ...findFaultsBetween(json)];
  if (!parsed.success || errors.length > 0) throw new AppError('validation_failed', { errors });
  const { seller, ...others } = parsed.data;
  const vatId = seller.vat_id && readVatId(seller.address.country, seller.vat_id);
  return { seller: { ...seller, vat_id: vatId }, ...others };
}

/** Unknown members are named one by one. */
function toErrors({ issues }: z.core.$ZodError): FieldError[] {
  const each = issues.flatMap((issue): Pick<typeof issue, 'path' | 'message'>[] =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key], message: 'There is no such member.' }))
      : [issue],
  );
  return toFieldErrors({ issues: each } as z.core.$ZodError);
}

const describeFault: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_key') return 'A plan’s name is 1 to 64 of the characters a-z 0-9 _ -';
  if (issue.code !== 'invalid_type') return undefined;
  return issue.input === undefined || issue.input === null
    ? 'This is missing.'
    : `This must be of type ${issue.expected}.`;
};

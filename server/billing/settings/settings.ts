// The billing settings (contract 7.100 to 7.113) say who sells, how documents are numbered, what is taxed, and how to pay. One
// table below has the rules of each member, and the member's field in the form.

import { z } from 'zod';
import { isCurrency } from '../../basics/currencies.ts';
import { AppError, type FieldError, toFieldErrors } from '../../basics/errors.ts';
import { isObject } from '../../basics/is-object.ts';
import type { billingBounds, RowField } from '../../basics/text.ts';
import { findTimeZone, timeZones } from '../../basics/time-zones.ts';
import { readEmailAddress } from '../../identity/ground/email-address.ts';
import { planSchema } from '../contracts/signup-message.ts';
import { maxAmount } from '../values/amounts.ts';
import { readBic, readIban } from '../values/bank-account.ts';
import { billingTextSchema, longestLine } from '../values/billing-text.ts';
import { isCountry, listCountries } from '../values/countries.ts';
import { isDay } from '../values/days.ts';
import { formatPercent, readPercent } from '../values/decimals.ts';
import { isLinkTemplate, isPlainLink } from '../values/payment-link.ts';
import { readVatId } from '../values/vat-ids.ts';
import { findFaultsBetween } from './check-settings.ts';

export type FormField = {
  name: keyof typeof billingBounds | 'email' | RowField;
  label: string;
  hint?: string;
  isEmail?: true;
  isDay?: true;
  inputMode?: 'numeric' | 'decimal';
  /** If the field is a choice, the words for each value. */
  options?: Record<string, string>;
  /** If given, the form has names of countries in place of codes, and suggests the names in this list. */
  countries?: string[];
  /** The value to begin with while there are no settings. */
  usual?: string;
  isBeside?: true;
  /** The section of the form that shows this field. The default is the name of the part of the settings, such as `seller`. */
  section?: string;
  digits?: number | 'of the currency';
  /** What the form says about a wrong value, if the schema's own words do not fit a form. */
  fault?: string;
};

export type FormTable = { name: string; id: string; caption: string; row: string; hint: string };

export const formFields = z.registry<FormField>();
export const formTables = z.registry<FormTable>();

type Named = [name: FormField['name'], label: string, more?: Omit<FormField, 'name' | 'label'>];

function field<Of extends z.ZodType>(schema: Of, ...[name, label, more]: Named): Of {
  // Some members share a schema, but the registry has one field for each schema. So each member gets a copy.
  const own = schema.clone();
  formFields.add(own, { name, label, ...more });
  return own;
}

const maxRows = 200;

const optional = <Of extends z.ZodType>(schema: Of) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

/** `read` returns the text in its usual form, or undefined to refuse it. */
const readBy = (read: (text: string) => string | undefined, fault: string) =>
  z
    .string({ error: ({ input }) => (input === undefined ? undefined : `Write it in quotes. ${fault}`) })
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

const countries = listCountries();

/** The form's word for `*`, which stands for all countries without a rule of their own. */
export const otherCountries = 'All others';

const prefixSchema = readIf(
  (text) => /^[A-Z0-9-]{1,12}$/.test(text),
  'Use 1 to 12 of the characters A-Z 0-9 and the hyphen.',
);

const days = (least: 0 | 1, ...[name, label, more]: Named) =>
  field(numberSchema(least, 365), name, label, { inputMode: 'numeric', digits: 0, ...more });

/** A member has a description if its name in the list of changes differs from its name in the form. */
export const settingsSchema = z.strictObject({
  seller: z.strictObject({
    name: field(billingTextSchema(200), 'sellerName', 'Name of the company'),
    address: z
      .strictObject({
        line1: field(line, 'line1', 'Street and number'),
        line2: field(optional(line), 'line2', 'Second line of the address'),
        postcode: field(line, 'postcode', 'Postcode'),
        city: field(line, 'city', 'City', { isBeside: true }),
        country: field(countrySchema, 'country', 'Country', {
          options: {
            '': 'Choose a country',
            ...Object.fromEntries(countries.map(({ code, name }) => [code, name])),
          },
          fault: 'Choose a country.',
          isBeside: true,
        }),
      })
      .describe('address'),
    // findFaultsBetween checks the VAT id, because the form of a VAT id depends on the country.
    vat_id: field(optional(z.string()), 'vatId', 'VAT ID', { hint: 'Such as DE123456789' }),
    tax_number: field(optional(billingTextSchema(30)), 'taxNumber', 'Tax number', {
      hint: 'One of the two is required where tax is charged',
      isBeside: true,
    }),
    email: field(
      readBy(readEmailAddress, 'Enter an email address in the correct format, like name@example.com.'),
      'email',
      'Email address',
      { hint: 'Where customers ask about invoices', isEmail: true },
    ),
    time_zone: field(
      readIf(
        (name) => findTimeZone(name) !== undefined,
        'Enter a time zone by its IANA name, such as Europe/Berlin.',
      ),
      'timeZone',
      'Time zone',
      {
        hint: 'It decides the day, and so the year, of each invoice',
        options: {
          '': 'Choose a time zone',
          ...Object.fromEntries(timeZones.map((zone) => [zone, zone.replaceAll('_', ' ')])),
        },
        fault: 'Choose a time zone.',
      },
    ),
    currency: field(
      readIf(isCurrency, 'Enter an ISO 4217 currency code, such as EUR.').describe('currency'),
      'currency',
      'Currency of the books',
      { hint: 'Three letters, such as EUR', usual: 'EUR', isBeside: true },
    ),
    iban: field(optional(readBy(readIban, 'Check the IBAN: a letter or digit is wrong.')), 'iban', 'IBAN', {
      section: 'payment',
    }),
    bic: field(optional(readBy(readBic, 'Check the BIC: it has 8 or 11 letters and digits.')), 'bic', 'BIC', {
      section: 'payment',
      isBeside: true,
    }),
    foot: field(optional(billingTextSchema(500)), 'foot', 'Text at the bottom of each page', {
      hint: 'Such as the register, its number, and who manages the company',
    }),
  }),
  numbers: z.strictObject({
    invoice: field(prefixSchema.describe('numbers of invoices'), 'invoicePrefix', 'Invoices begin with', {
      hint: 'A to Z, 0 to 9 and hyphens',
      usual: 'INV-',
    }),
    credit_note: field(
      prefixSchema.describe('numbers of credit notes'),
      'creditNotePrefix',
      'Credit notes begin with',
      { hint: 'Another beginning than that of invoices', usual: 'CN-', isBeside: true },
    ),
  }),
  plans: z
    .record(
      field(planSchema, 'plan', 'Plan'),
      z.strictObject({
        title: field(billingTextSchema(200), 'planTitle', 'Title'),
        description: field(optional(billingTextSchema(500)), 'planDescription', 'Description'),
        // The price is in minor units of the seller's currency. It is only for information.
        price: field(optional(numberSchema(0, maxAmount)), 'planPrice', 'Price', {
          inputMode: 'decimal',
          digits: 'of the currency',
          fault: 'Enter an amount such as 29.00, with as many digits as the currency has.',
        }),
        link: field(
          optional(readIf(isPlainLink, 'Enter an https address of at most 500 characters.')),
          'planLink',
          'Link after a trial',
        ),
      }),
    )
    .refine((plans) => Object.keys(plans).length <= maxRows, `Use no more than ${maxRows} plans.`)
    .register(formTables, {
      ...{ name: 'plans', id: 'plans-rows', caption: 'Plans', row: 'plan' },
      hint: 'The plan’s name is that of the CRM, such as starter. The link leads customers to where they go on after a trial. Empty a row to remove it.',
    }),
  terms: z.strictObject({
    days_to_pay: days(0, 'daysToPay', 'Days to pay', { usual: '14', hint: 'From the day of the invoice' }),
    past_due_after_days: days(0, 'pastDueAfter', 'Days until a contract is past due', {
      ...{ usual: '0', hint: 'After the last day to pay', isBeside: true },
    }).describe('when a contract is past due'),
    reminder_days: z
      .tuple(
        [
          days(1, 'firstReminder', 'Days until the first reminder', {
            ...{ usual: '7', hint: 'After the last day to pay' },
          }),
          days(1, 'secondReminder', 'Days until the second reminder', {
            ...{ usual: '14', hint: 'At least six more than the first', isBeside: true },
          }),
        ],
        'Enter two numbers of days.',
      )
      .describe('reminders'),
    customers_may_cancel: field(
      z.boolean('Choose yes or no: true or false in a file.').describe('whether customers may cancel'),
      'customersMayCancel',
      'May customers cancel on their billing page?',
      { usual: 'yes', options: { yes: 'Yes', no: 'No' } },
    ),
    // If this member is left out, `invoicesPastDue` treats it as true.
    invoice_while_past_due: field(
      optional(z.boolean('Choose yes or no: true or false in a file.')).describe(
        'whether past-due contracts are invoiced',
      ),
      'invoiceWhilePastDue',
      'Are contracts invoiced while they are past due?',
      {
        ...{ usual: 'yes', options: { yes: 'Yes', no: 'No: their periods wait' } },
        fault: 'Choose yes or no.',
      },
    ),
  }),
  tax: z.strictObject({
    prices: field(
      z
        .enum(['net', 'gross'], 'Choose net (before tax) or gross (with tax).')
        .describe('whether prices have tax in them'),
      'prices',
      'Prices of plans are',
      {
        usual: 'net',
        options: { net: 'Before tax (net): tax is added', gross: 'With tax (gross): tax is part of them' },
      },
    ),
    rules: z
      .array(
        z.strictObject({
          // `*` stands for countries without a rule of their own.
          country: field(
            readIf(
              (text) => text === '*' || isCountry(text),
              'Enter the country’s two letters, such as DE, or * for all other countries.',
            ),
            'ruleCountry',
            'Country',
            {
              countries: [otherCountries, ...countries.map(({ name }) => name)],
              fault: `Choose a country from the list, or “${otherCountries}”.`,
            },
          ),
          percent: field(
            readBy((text) => {
              const rate = readPercent(text);
              return rate === undefined ? undefined : formatPercent(rate);
            }, 'Enter a rate from 0 to 100 %, such as 19 or 5.5, with two decimals at most.'),
            'ruleRate',
            'Rate in %',
            { inputMode: 'decimal' },
          ),
          category: field(
            z.enum(['S', 'E', 'O'], 'Choose S (taxed), E (exempt) or O (outside the scope of tax).'),
            'ruleCategory',
            'Category',
            { options: { '': 'Choose', S: 'S: taxed', E: 'E: exempt', O: 'O: out of scope' } },
          ),
          words: field(optional(billingTextSchema(300)), 'ruleWords', 'Words, if no tax'),
          from: field(
            readIf(
              (text) => text.startsWith('20') && isDay(text),
              'Enter a day from 2000 to 2099, such as 2026-01-01.',
            ),
            'ruleFrom',
            'From',
            { isDay: true },
          ),
        }),
      )
      .max(maxRows, `Use no more than ${maxRows} rules.`)
      .describe('tax rules')
      .register(formTables, {
        ...{ name: 'rules', id: 'rules', caption: 'Tax rules', row: 'rule' },
        hint: 'One row each for the seller’s own country and for “All others”, which counts for every country without a rule of its own, also in the EU. Empty a row to remove it.',
      }),
    reverse_charge_words: field(
      billingTextSchema(300).describe('words of reverse charge'),
      'reverseChargeWords',
      'Words of invoices under reverse charge',
      { hint: 'Must contain “Reverse charge”.', usual: 'Reverse charge' },
    ),
  }),
  payment: z.strictObject({
    link: field(
      optional(
        readIf(
          isLinkTemplate,
          'Enter an https address. Only {number}, {amount} and {currency} may stand in it, and not in its host.',
        ),
      ),
      'paymentLink',
      'Link to pay',
      { hint: 'An https address. {number}, {amount} and {currency} in it become those of the invoice' },
    ),
    text: field(optional(billingTextSchema(500)), 'paymentText', 'Words about paying'),
  }),
});

/** The settings in the form that people write and read. */
export type WrittenSettings = z.output<typeof settingsSchema>;

type Tax = WrittenSettings['tax'];
type TaxRule = Omit<Tax['rules'][number], 'percent'> & {
  /** Hundredths of a percent: 1900 is 19 %. Version 1.0.0 reads this, too. */
  rate: number;
};

/** The settings as they are stored. */
export type BillingSettings = Omit<WrittenSettings, 'tax'> & {
  tax: Omit<Tax, 'rules'> & { rules: TaxRule[] };
};

/** Returns whether contracts are invoiced while they are past due (contract 7.476). */
export const invoicesPastDue = ({ terms }: BillingSettings): boolean => terms.invoice_while_past_due ?? true;

/** Throws 422 `validation_failed` with a JSON pointer to each fault. */
export function readSettings(written: unknown): BillingSettings {
  const { json, name } = readOldRates(written);
  const parsed = settingsSchema.safeParse(json, { error: describeFault });
  const errors = [...(parsed.success ? [] : toErrors(parsed.error)), ...findFaultsBetween(json)].map(name);
  if (!parsed.success || errors.length > 0) throw new AppError('validation_failed', { errors });
  const { seller, tax, ...others } = parsed.data;
  const vatId = seller.vat_id && readVatId(seller.address.country, seller.vat_id);
  const rules = tax.rules.map(({ percent, ...rule }) => ({ ...rule, rate: readPercent(percent) ?? 0 }));
  return { seller: { ...seller, vat_id: vatId }, ...others, tax: { ...tax, rules } };
}

export const writeSettings = ({ tax, ...others }: BillingSettings): WrittenSettings => ({
  ...others,
  tax: { ...tax, rules: tax.rules.map(({ rate, ...rule }) => ({ ...rule, percent: formatPercent(rate) })) },
});

/**
 * Files from before 1.1.0 have `rate`, in hundredths of a percent, instead of `percent`. A rate below 1 % is refused, because
 * it was probably meant as percent. In the result, `name` changes the pointer of a fault from `percent` to `rate`, if the file
 * has `rate`.
 */
function readOldRates(json: unknown) {
  const refused = 'Write the rate in percent: "percent": "19" is 19 %. (In "rate", 19 would be 0.19 %.)';
  const isOld = (rule: unknown): rule is { rate: unknown } =>
    isObject(rule) && Object.hasOwn(rule, 'rate') && !Object.hasOwn(rule, 'percent');
  const tax = isObject(json) ? json.tax : undefined;
  const rules = isObject(tax) && Array.isArray(tax.rules) ? (tax.rules as unknown[]) : [];
  const read = rules.map((rule) => {
    if (!isOld(rule)) return rule;
    const { rate, ...others } = rule;
    const isMeant = Number.isInteger(rate) && (rate === 0 || Number(rate) >= 100);
    return { ...others, percent: isMeant ? formatPercent(Number(rate)) : 'unread' };
  });
  const name = (fault: FieldError): FieldError => {
    const [, at] = /^\/tax\/rules\/(\d+)\/percent$/.exec(fault.pointer) ?? [];
    if (at === undefined || !isOld(rules[Number(at)])) return fault;
    const detail = fault.detail.startsWith('Category') ? fault.detail : refused;
    return { pointer: `/tax/rules/${at}/rate`, detail };
  };
  return {
    json: read.length > 0 ? { ...(json as object), tax: { ...(tax as object), rules: read } } : json,
    name,
  };
}

/** Reports each unknown member on its own. */
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

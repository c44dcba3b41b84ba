// The settings of billing as fields of a form (contract 7.125 and 7.126): amounts and rates are decimals there, tax rules and
// plans are rows of a table.

import { minorDigits } from '../../basics/currencies.ts';
import { AppError } from '../../basics/errors.ts';
import type { billingBounds, RowField } from '../../basics/text.ts';
import { readDecimal, writeDigits } from '../values/decimals.ts';
import { type BillingSettings, readSettings } from './settings.ts';

export type Fields = Record<string, string>;

/** Where the value of each field is in the settings. */
const pointers: Record<keyof typeof billingBounds | 'email', string> = {
  sellerName: '/seller/name',
  line1: '/seller/address/line1',
  line2: '/seller/address/line2',
  postcode: '/seller/address/postcode',
  city: '/seller/address/city',
  country: '/seller/address/country',
  vatId: '/seller/vat_id',
  taxNumber: '/seller/tax_number',
  email: '/seller/email',
  timeZone: '/seller/time_zone',
  currency: '/seller/currency',
  iban: '/seller/iban',
  bic: '/seller/bic',
  foot: '/seller/foot',
  invoicePrefix: '/numbers/invoice',
  creditNotePrefix: '/numbers/credit_note',
  daysToPay: '/terms/days_to_pay',
  firstReminder: '/terms/reminder_days/0',
  secondReminder: '/terms/reminder_days/1',
  pastDueAfter: '/terms/past_due_after_days',
  customersMayCancel: '/terms/customers_may_cancel',
  prices: '/tax/prices',
  reverseChargeWords: '/tax/reverse_charge_words',
  paymentText: '/payment/text',
  paymentLink: '/payment/link',
};

const ruleFields = {
  country: 'ruleCountry',
  rate: 'ruleRate',
  category: 'ruleCategory',
  words: 'ruleWords',
  from: 'ruleFrom',
} as const satisfies Record<string, RowField>;

const planFields = {
  title: 'planTitle',
  description: 'planDescription',
  price: 'planPrice',
} as const satisfies Record<string, RowField>;

/** What a form starts with while there is no seller. */
const usual: Fields = {
  currency: 'EUR',
  invoicePrefix: 'INV-',
  creditNotePrefix: 'CN-',
  daysToPay: '14',
  firstReminder: '7',
  secondReminder: '14',
  pastDueAfter: '0',
  customersMayCancel: 'yes',
  prices: 'net',
  reverseChargeWords: 'Reverse charge',
};

/** The form of these settings. */
export function writeSettingsForm(settings: BillingSettings | undefined): Fields {
  if (!settings) return usual;
  const { rules } = settings.tax;
  const digits = minorDigits(settings.seller.currency);
  return {
    ...Object.fromEntries(
      Object.entries(pointers).map(([name, pointer]) => [name, writeValue(findAt(settings, pointer))]),
    ),
    ...numberRows(
      rules.map(({ country, rate, category, words = '', from }) => ({
        ruleCountry: country,
        ruleRate: writeDigits(rate, 2),
        ruleCategory: category,
        ruleWords: words,
        ruleFrom: from,
      })),
    ),
    ...numberRows(
      Object.entries(settings.plans).map(([plan, { title, description = '', price }]) => ({
        plan,
        planTitle: title,
        planDescription: description,
        planPrice: price === undefined ? '' : writeDigits(price, digits),
      })),
    ),
  };
}

const findAt = (value: unknown, pointer: string): unknown =>
  pointer
    .slice(1)
    .split('/')
    .reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);

const writeValue = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '');

const numberRows = (rows: Fields[]): Fields =>
  Object.fromEntries(
    rows.flatMap((row, at) => Object.entries(row).map(([name, value]) => [`${name}-${at + 1}`, value])),
  );

/** The amount, or the text itself, which the rules of settings then refuse. */
const readNumber = (text: string, digits: number): number | string => readDecimal(text, digits) ?? text;

/** Hundredths of a percent. People may write the sign. */
const readRate = (text: string) => readNumber(text.replace(/%\s*$/, ''), 2);

function readRows(fields: Fields) {
  const rules = listRows(fields, ['ruleCountry', 'ruleRate', 'ruleWords', 'ruleFrom']);
  const plans = listRows(fields, ['plan', 'planTitle', 'planDescription', 'planPrice']);
  return { rules, plans, rowOfPlan: indexPlans(fields, plans) };
}

/** Where in such a form a pointer into the settings is, as a pointer. */
export const nameSettingsField = (fields: Fields, pointer: string): string =>
  `/${nameField(readRows(fields), pointer)}`;

/** Reads such a form. Throws 422 `validation_failed` with everything that is wrong, by the names of fields. */
export function readSettingsForm(fields: Fields): BillingSettings {
  const { rules, plans, rowOfPlan } = readRows(fields);
  const errors = plans
    .filter((row) => rowOfPlan.get(planOf(fields, row)) !== row)
    .map((row) => ({ pointer: `/plan-${row}`, detail: 'Another row has this plan.' }));
  try {
    const settings = readSettings(toJson(fields, rules, plans));
    if (errors.length === 0) return settings;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const toField = (pointer: string) => nameField({ rules, rowOfPlan }, pointer);
    errors.push(
      ...error.errors.map(({ pointer, detail }) => {
        const field = toField(pointer);
        return { pointer: `/${field}`, detail: sayAsDecimal(field, fields[field] ?? '') ?? detail };
      }),
    );
  }
  throw new AppError('validation_failed', { errors });
}

/** The words for what is no rate or price: those of the settings are about the whole numbers of a file. */
function sayAsDecimal(field: string, typed: string): string | undefined {
  if (field.startsWith('planPrice-'))
    return 'Enter an amount such as 29.00, with as many digits as the currency has.';
  const rate = field.startsWith('ruleRate-') ? readRate(typed) : 0;
  return typeof rate === 'string' || rate > 10_000
    ? 'Enter a rate from 0 to 100 %, such as 19 or 5.5, with two decimals at most.'
    : undefined;
}

/** The numbers of the rows in which any of these fields is filled in. */
const listRows = (fields: Fields, names: RowField[]): number[] =>
  [
    ...new Set(
      Object.entries(fields).flatMap(([field, value]) => {
        const [name = '', number] = field.split('-');
        return number !== undefined && names.includes(name as RowField) && value.trim()
          ? [Number(number)]
          : [];
      }),
    ),
  ].sort((one, other) => one - other);

const planOf = (fields: Fields, row: number) => (fields[`plan-${row}`] ?? '').trim();

/** The first row of each plan. */
const indexPlans = (fields: Fields, rows: number[]): Map<string, number> =>
  new Map(rows.toReversed().map((row) => [planOf(fields, row), row]));

function toJson(fields: Fields, rules: number[], plans: number[]): unknown {
  const required = (name: keyof typeof pointers) => fields[name] ?? '';
  const optional = (name: string) => fields[name]?.trim() || undefined;
  const whole = (name: keyof typeof pointers) => readNumber(required(name), 0);
  const [currency, mayCancel] = [required('currency').trim(), required('customersMayCancel')];
  return {
    seller: {
      name: required('sellerName'),
      address: {
        line1: required('line1'),
        line2: optional('line2'),
        postcode: required('postcode'),
        city: required('city'),
        country: required('country'),
      },
      vat_id: optional('vatId'),
      tax_number: optional('taxNumber'),
      email: required('email'),
      time_zone: required('timeZone'),
      currency,
      iban: optional('iban'),
      bic: optional('bic'),
      foot: optional('foot'),
    },
    numbers: { invoice: required('invoicePrefix'), credit_note: required('creditNotePrefix') },
    plans: Object.fromEntries(
      plans.map((row) => {
        const price = optional(`planPrice-${row}`);
        return [
          planOf(fields, row),
          {
            title: fields[`planTitle-${row}`] ?? '',
            description: optional(`planDescription-${row}`),
            price: price && readNumber(price, minorDigits(currency)),
          },
        ];
      }),
    ),
    terms: {
      days_to_pay: whole('daysToPay'),
      reminder_days: [whole('firstReminder'), whole('secondReminder')],
      past_due_after_days: whole('pastDueAfter'),
      customers_may_cancel: mayCancel === 'yes' ? true : mayCancel === 'no' ? false : mayCancel,
    },
    tax: {
      prices: required('prices'),
      rules: rules.map((row) => ({
        country: fields[`ruleCountry-${row}`] ?? '',
        rate: readRate(fields[`ruleRate-${row}`] ?? ''),
        category: fields[`ruleCategory-${row}`] ?? '',
        words: optional(`ruleWords-${row}`),
        from: fields[`ruleFrom-${row}`] ?? '',
      })),
      reverse_charge_words: required('reverseChargeWords'),
    },
    payment: { text: optional('paymentText'), link: optional('paymentLink') },
  };
}

/** The field that a pointer into the settings is about: `rules` and `plans` are the tables as a whole. */
function nameField(
  { rules, rowOfPlan }: { rules: number[]; rowOfPlan: Map<string, number> },
  pointer: string,
): string {
  const [, part, name = '', ...rest] = pointer
    .split('/')
    .map((each) => each.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (part === 'plans') {
    const row = rowOfPlan.get(name);
    const field = rest[0] === undefined ? 'plan' : planFields[rest[0] as keyof typeof planFields];
    return row === undefined ? 'plans' : `${field}-${row}`;
  }
  if (part === 'tax' && name === 'rules')
    return rest[0] === undefined
      ? 'rules'
      : `${ruleFields[rest[1] as keyof typeof ruleFields]}-${rules[Number(rest[0])]}`;
  return Object.entries(pointers).find(([, each]) => each === pointer)?.[0] ?? part ?? '';
}

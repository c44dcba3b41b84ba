// Checks that members of the billing settings fit each other (contract 7.105 to 7.112). The checks work on raw JSON, so that one
// answer lists every fault even if other members are wrong.
import type { FieldError } from '../../basics/errors.ts';
import { isObject } from '../../basics/is-object.ts';
import { isCountry, isMemberState } from '../values/countries.ts';
import { readPercent } from '../values/decimals.ts';
import { readVatId, vatPrefix } from '../values/vat-ids.ts';

const find = (value: unknown, ...path: string[]): unknown =>
  path.reduce((at, name) => (isObject(at) ? at[name] : undefined), value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : undefined);

const isSaid = (value: unknown) => value !== undefined && value !== null;

export const findFaultsBetween = (json: unknown): FieldError[] => [
  ...checkVatId(json),
  ...checkTaxIds(json),
  ...checkNumbers(json),
  ...checkReminders(json),
  ...checkRules(json),
  ...checkReverseCharge(json),
];

function* checkVatId(json: unknown): Iterable<FieldError> {
  const country = trimmed(find(json, 'seller', 'address', 'country'));
  const vatId = find(json, 'seller', 'vat_id');
  if (country === undefined || typeof vatId !== 'string' || readVatId(country, vatId) !== undefined) return;
  const detail = isMemberState(country)
    ? `Check the VAT ID: one of this country begins with ${vatPrefix(country)}, and has its form and its check digits.`
    : 'Use 1 to 30 characters.';
  yield { pointer: '/seller/vat_id', detail };
}

function* checkTaxIds(json: unknown): Iterable<FieldError> {
  const isTaxed = listOf(find(json, 'tax', 'rules')).some((rule) => find(rule, 'category') === 'S');
  const seller = find(json, 'seller');
  if (isTaxed && isObject(seller) && !isSaid(seller.vat_id) && !isSaid(seller.tax_number))
    yield {
      pointer: '/seller/vat_id',
      detail: 'Enter a VAT ID or a tax number: it is required where tax is charged.',
    };
}

function* checkNumbers(json: unknown): Iterable<FieldError> {
  const invoice = trimmed(find(json, 'numbers', 'invoice'));
  if (invoice !== undefined && invoice === trimmed(find(json, 'numbers', 'credit_note')))
    yield { pointer: '/numbers/credit_note', detail: 'Use another prefix than that of invoices.' };
}

const leastDaysBetween = 6;

function* checkReminders(json: unknown): Iterable<FieldError> {
  const [first, second] = listOf(find(json, 'terms', 'reminder_days'));
  if (
    Number.isInteger(first) &&
    Number.isInteger(second) &&
    Number(second) < Number(first) + leastDaysBetween
  )
    yield {
      pointer: '/terms/reminder_days/1',
      detail: `Leave at least ${leastDaysBetween} days between the two reminders.`,
    };
}

function* checkRules(json: unknown): Iterable<FieldError> {
  const rules = find(json, 'tax', 'rules');
  if (!Array.isArray(rules)) return;
  const seen = new Set<string>();
  for (const [at, rule] of rules.entries()) {
    const [country, from] = [trimmed(find(rule, 'country')), trimmed(find(rule, 'from'))];
    const [category, percent] = [find(rule, 'category'), find(rule, 'percent')];
    const rate = typeof percent === 'string' ? readPercent(percent) : undefined;
    if (category === 'S' && rate === 0)
      yield {
        pointer: `/tax/rules/${at}/percent`,
        detail: 'Category S has a rate above 0. Without tax, use E or O.',
      };
    if (category === 'E' || category === 'O') {
      if (rate !== undefined && rate !== 0)
        yield { pointer: `/tax/rules/${at}/percent`, detail: `Category ${category} has the rate 0.` };
      if (!isSaid(find(rule, 'words')))
        yield { pointer: `/tax/rules/${at}/words`, detail: 'Say why no tax is charged. Invoices print it.' };
    }
    if (country === undefined || from === undefined) continue;
    if (seen.has(`${country} ${from}`))
      yield { pointer: `/tax/rules/${at}/from`, detail: 'Another rule of this country begins on this day.' };
    seen.add(`${country} ${from}`);
  }
  const countries = new Set(rules.map((rule) => trimmed(find(rule, 'country'))));
  const own = trimmed(find(json, 'seller', 'address', 'country'));
  if (!countries.has('*'))
    yield {
      pointer: '/tax/rules',
      detail: 'Add a rule for all other countries: * in a file, “All others” in the form.',
    };
  if (own !== undefined && isCountry(own) && !countries.has(own))
    yield { pointer: '/tax/rules', detail: 'Add a rule for the seller’s own country.' };
}

function* checkReverseCharge(json: unknown): Iterable<FieldError> {
  const words = find(json, 'tax', 'reverse_charge_words');
  if (typeof words === 'string' && !words.includes('Reverse charge'))
    yield { pointer: '/tax/reverse_charge_words', detail: 'Let the words “Reverse charge” be among these.' };
}

// What the sample documents for given settings say (contract 7.496 to 7.498). A sample uses up no number, and nothing is
// stored.
import { minorDigits } from '../../basics/currencies.ts';
import type { BillingSettings } from '../settings/settings.ts';
import { addDays, dayIn, startOfDay } from '../values/days.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { endOfPeriod } from '../values/periods.ts';
import { computeInvoice } from './issue.ts';

/** No real document has this number, because the first one of a year is 0001. */
const noNumber = '0000';
const noId = '00000000-0000-0000-0000-000000000000';

/**
 * Makes an invoice dated today, and a credit note for all of it. The customer is in the seller's country, and the plan is the
 * first one with a price.
 */
export function buildSampleFacts(
  settings: BillingSettings,
  now: Date,
): { invoice: DocumentFacts; creditNote: DocumentFacts } {
  const { seller, numbers, plans, terms, tax, payment } = settings;
  const { currency, time_zone: zone, address } = seller;
  const [plan = 'sample', { title = 'Sample plan', description = null, price = 0 } = {}] =
    Object.entries(plans).find(([, each]) => each.price) ?? Object.entries(plans)[0] ?? [];
  const unitAmount = price || 100 * 10 ** minorDigits(currency);
  const draw = (startsAt: Date) => {
    const endsAt = endOfPeriod(startsAt, 'month', startsAt.getUTCDate());
    const charge = { plan, price: { currency, unitAmount, quantity: 1 }, startsAt, endsAt };
    const taxed = { country: address.country, vatId: null, hasCheckedVatId: false };
    return { charge, drawn: computeInvoice(settings, charge, { taxed }) };
  };
  // If the seller's tax rules begin later than today, the sample is dated on the first day of these rules.
  const [firstDay = ''] = tax.rules
    .flatMap(({ country, from }) => (country === address.country ? [from] : []))
    .sort();
  const today = draw(now);
  const { charge, drawn } = 'blocked' in today.drawn ? draw(startOfDay(zone, firstDay)) : today;
  if ('blocked' in drawn) throw new Error(`The sample is blocked: ${drawn.blocked}.`);
  const { firstDay: first_day, lastDay: last_day, ...amounts } = drawn;
  const issuedOn = dayIn(zone, charge.startsAt);
  const numberOf = (prefix: string) => `${prefix}${issuedOn.slice(0, 4)}-${noNumber}`;
  const dueOn = addDays(issuedOn, terms.days_to_pay);
  const invoice: DocumentFacts = {
    version: 1,
    kind: 'invoice',
    number: numberOf(numbers.invoice),
    issued_on: issuedOn,
    due_on: dueOn,
    invoice: null,
    currency,
    seller,
    buyer: {
      name: 'Sample Customer',
      address: { ...address, line1: 'Sample Street 1', line2: undefined },
      vat_id: null,
      email: 'customer@example.com',
    },
    line: { plan, title, description, first_day, last_day },
    prices: tax.prices,
    ...amounts,
    payment: { text: payment.text ?? null, link: payment.link ?? null },
    record: {
      contract_id: noId,
      account_id: noId,
      period_starts_at: charge.startsAt.toISOString(),
      period_ends_at: charge.endsAt.toISOString(),
      issued_at: charge.startsAt.toISOString(),
      due_at: startOfDay(zone, addDays(dueOn, 1)).toISOString(),
      past_due_at: startOfDay(zone, addDays(dueOn, 1 + terms.past_due_after_days)).toISOString(),
      settings_version: 0,
    },
  };
  const creditNote: DocumentFacts = {
    ...invoice,
    kind: 'credit_note',
    number: numberOf(numbers.credit_note),
    due_on: null,
    invoice: { number: invoice.number, issued_on: issuedOn },
    payment: null,
    record: { ...invoice.record, due_at: null, past_due_at: null },
  };
  return { invoice, creditNote };
}

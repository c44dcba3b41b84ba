// The settings of a seller, as tests set them.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import type { BillingSettings } from '../../../server/billing/settings/settings.ts';
import { dayIn } from '../../../server/billing/values/days.ts';

export const germanSettings: BillingSettings = {
  seller: {
    name: 'Blumen GmbH',
    address: { line1: 'Hauptstraße 1', postcode: '10115', city: 'Berlin', country: 'DE' },
    vat_id: 'DE136695976',
    tax_number: '27/123/45678',
    email: 'billing@example.test',
    time_zone: 'Europe/Berlin',
    currency: 'EUR',
    iban: 'DE89370400440532013000',
    bic: 'COBADEFFXXX',
    foot: 'Amtsgericht Berlin HRB 12345',
  },
  numbers: { invoice: 'INV-', credit_note: 'CN-' },
  plans: { starter: { title: 'Starter', description: 'The starter plan' } },
  terms: { days_to_pay: 14, reminder_days: [7, 14], past_due_after_days: 0, customers_may_cancel: true },
  tax: {
    prices: 'net',
    rules: [
      { country: 'DE', rate: 1900, category: 'S', from: '2020-01-01' },
      { country: 'FR', rate: 2000, category: 'S', from: '2020-01-01' },
      { country: '*', rate: 0, category: 'O', words: 'Not subject to German VAT', from: '2020-01-01' },
    ],
    reverse_charge_words: 'Reverse charge',
  },
  payment: {
    text: 'Please transfer to our account.',
    link: 'https://pay.example.test/{number}?amount={amount}',
  },
};

/** The settings with taxes that are in force from that day on. */
export const settingsFrom = (from: string): BillingSettings => ({
  ...germanSettings,
  tax: { ...germanSettings.tax, rules: germanSettings.tax.rules.map((rule) => ({ ...rule, from })) },
});

export const dayOfSeller = (at = new Date()): string => dayIn(germanSettings.seller.time_zone, at);

/** Puts the settings in force immediately, as a version of their own. */
export async function setSettings(db: Database, settings: BillingSettings = germanSettings): Promise<void> {
  await sql`insert into billing_settings (version, settings, counts_from, made_by, why)
    select coalesce(max(version), 0) + 1, ${JSON.stringify(settings)}::jsonb, '-infinity', 'test', 'for a test'
    from billing_settings`.execute(db);
}

/** Sets the clock by which the database dates documents. */
export async function setBillingClock(db: Database, at: string): Promise<void> {
  await sql`create or replace function billing_now() returns timestamptz language sql
    as ${sql.lit(`select ${`'${at}'`}::timestamptz`)}`.execute(db);
}

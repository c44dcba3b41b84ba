// A seller for local mode, so that a newcomer sees an invoice within a minute.
import type { BillingSettings } from '../../billing/settings/settings.ts';

/** The example of docs/operate/billing.md. */
export const exampleSettings: BillingSettings = {
  seller: {
    name: 'Blumen GmbH',
    address: { line1: 'Hauptstraße 1', postcode: '10115', city: 'Berlin', country: 'DE' },
    vat_id: 'DE136695976',
    tax_number: '27/123/45678',
    email: 'billing@example.com',
    time_zone: 'Europe/Berlin',
    currency: 'EUR',
    iban: 'DE89370400440532013000',
    bic: 'COBADEFFXXX',
    foot: 'Amtsgericht Berlin HRB 12345, managing director: Rosa Blum',
  },
  numbers: { invoice: 'INV-', credit_note: 'CN-' },
  plans: { starter: { title: 'Starter', description: 'CRM for up to three people', price: 2900 } },
  terms: {
    days_to_pay: 14,
    reminder_days: [7, 14],
    past_due_after_days: 0,
    customers_may_cancel: true,
  },
  tax: {
    prices: 'net',
    rules: [
      { country: 'DE', rate: 1900, category: 'S', from: '2026-01-01' },
      {
        country: '*',
        rate: 0,
        category: 'O',
        words: 'Not subject to German VAT',
        from: '2026-01-01',
      },
    ],
    reverse_charge_words: 'Reverse charge: the customer owes the VAT',
  },
  payment: {
    text: 'Please transfer the amount with the number of the invoice.',
    link: 'https://pay.example.com/{number}?amount={amount}&currency={currency}',
  },
};

// One document of each kind. Tests compare the PDF and XML with these facts.
import type { DocumentFacts, Seller } from '../../../server/billing/values/document-facts.ts';

const seller: Seller = {
  name: 'Blumen & Söhne GmbH',
  address: { line1: 'Lindenstraße 5', postcode: '10969', city: 'Berlin', country: 'DE' },
  vat_id: 'DE123456789',
  tax_number: '30/123/45678',
  email: 'rechnung@blumen.example',
  time_zone: 'Europe/Berlin',
  currency: 'EUR',
  iban: 'DE89370400440532013000',
  bic: 'COBADEFFXXX',
  foot: 'Amtsgericht Charlottenburg HRB 12345 B · Managing director: Anna Söhne',
};
const { vat_id: _vatId, ...withoutVatId } = seller;

const invoice: DocumentFacts = {
  version: 1,
  kind: 'invoice',
  number: 'INV-2026-0001',
  issued_on: '2026-11-26',
  due_on: '2026-12-10',
  invoice: null,
  currency: 'EUR',
  seller,
  buyer: {
    name: 'Zoë’s Flowers',
    address: { line1: '12 High Street', line2: 'Unit 4', postcode: '1010', city: 'Wien', country: 'AT' },
    vat_id: null,
    email: 'zoe@flowers.example',
  },
  line: {
    plan: 'starter',
    title: 'Starter plan',
    description: 'Up to five users, with support by e-mail',
    first_day: '2026-11-01',
    last_day: '2026-11-30',
  },
  prices: 'net',
  category: 'S',
  rate: 1900,
  words: null,
  net: 2900,
  tax: 551,
  total: 3451,
  payment: {
    text: 'Please pay by bank transfer, and name the number of this invoice.',
    link: 'https://pay.example/invoices?number={number}&amount={amount}&currency={currency}',
  },
  record: {
    contract_id: '01980000-0000-7000-8000-000000000001',
    account_id: '01980000-0000-7000-8000-000000000002',
    period_starts_at: '2026-10-31T23:00:00.000Z',
    period_ends_at: '2026-11-30T23:00:00.000Z',
    issued_at: '2026-11-26T09:00:00.000Z',
    due_at: '2026-12-10T23:00:00.000Z',
    past_due_at: '2026-12-10T23:00:00.000Z',
    settings_version: 1,
  },
};

const untaxed = { rate: 0, tax: 0, total: 2900 };
const company = { ...invoice.buyer, vat_id: 'ATU12345678' };
const credit = {
  kind: 'credit_note',
  number: 'CN-2026-0001',
  issued_on: '2026-12-01',
  due_on: null,
  invoice: { number: 'INV-2026-0001', issued_on: '2026-11-26' },
  payment: null,
} as const;

const longName = (start: string) =>
  `${start} ${'Überaus lange Gesellschaft '.repeat(10)}`.slice(0, 199).trim().padEnd(200, 'x');

/** The name of each sample says what is special about it. */
export const samples = {
  'an invoice with tax': invoice,
  'an invoice in place of a lost one': { ...invoice, replaces: 'INV-2026-0999' },
  'an invoice of a gross price': { ...invoice, prices: 'gross', net: 2437, tax: 463, total: 2900 },
  'an invoice with a quantity, charges and a deduction': {
    ...invoice,
    lines: [
      { title: 'Starter plan', quantity: 5, amount: 14_500 },
      { title: 'Setup', quantity: 1, amount: 10_000, charge: 'setup' },
      { title: 'Minutes beyond the plan', quantity: 120, amount: 600, charge: 'minutes' },
      { title: 'For the outage of 12 October', quantity: 1, amount: -500, charge: 'sorry' },
    ],
    net: 24_600,
    tax: 4_674,
    total: 29_274,
  },
  'an invoice of gross prices with a quantity and a deduction': {
    ...invoice,
    prices: 'gross',
    lines: [
      { title: 'Starter plan', quantity: 3, amount: 8_700 },
      { title: 'Seats', quantity: 7, amount: 700, charge: 'seats' },
      { title: 'A discount', quantity: 1, amount: -1_001, charge: 'discount' },
    ],
    net: 7_058,
    tax: 1_341,
    total: 8_399,
  },
  'an invoice of charges alone': {
    ...invoice,
    line: {
      ...invoice.line,
      title: 'Setup',
      description: null,
      first_day: '2026-11-26',
      last_day: '2026-11-26',
    },
    lines: [{ title: 'Setup', quantity: 2, amount: 2_900, charge: 'setup' }],
  },
  'an invoice exempt from tax': {
    ...invoice,
    ...untaxed,
    seller: withoutVatId,
    category: 'E',
    words: 'No tax is charged: small business under § 19 UStG.',
  },
  'an invoice outside the scope of tax': {
    ...invoice,
    ...untaxed,
    category: 'O',
    buyer: {
      ...invoice.buyer,
      address: { line1: '1 Main St', postcode: '94105', city: 'San Francisco', country: 'US' },
    },
    words: 'Not subject to German VAT: the place of supply is outside the European Union.',
  },
  'an invoice to a country without postal codes and cities': {
    ...invoice,
    ...untaxed,
    category: 'O',
    buyer: {
      ...invoice.buyer,
      address: { line1: 'PO Box 1', line2: 'Dubai', postcode: '', city: '', country: 'AE' },
    },
    words: 'Not subject to German VAT: the place of supply is outside the European Union.',
  },
  'an invoice with reverse charge': {
    ...invoice,
    ...untaxed,
    category: 'AE',
    buyer: company,
    words: 'Reverse charge: the customer accounts for the tax (Article 196 of Directive 2006/112/EC).',
  },
  'an invoice in yen': {
    ...invoice,
    currency: 'JPY',
    net: 4545,
    tax: 455,
    total: 5000,
    rate: 1000,
    prices: 'gross',
    seller: { ...seller, iban: undefined, bic: undefined },
  },
  'a credit note': { ...invoice, ...credit },
  'a credit note of a part': { ...invoice, ...credit, net: 840, tax: 160, total: 1000 },
  'a credit note of one cent': { ...invoice, ...credit, net: 1, tax: 0, total: 1 },
  'a credit note with reverse charge': {
    ...invoice,
    ...credit,
    ...untaxed,
    category: 'AE',
    buyer: company,
    words: 'Reverse charge',
  },
  'an invoice with names from right to left': {
    ...invoice,
    seller: { ...seller, name: 'חברת פרחים (2026) בע״מ' },
    buyer: {
      name: 'شركة الزهور (القاهرة) Flowers Ltd. ٢٠٢٦',
      address: { line1: 'شارع التحرير 15', postcode: '11511', city: 'القاهرة', country: 'EG' },
      vat_id: '123-456-789',
      email: 'zuhur@flowers.example',
    },
  },
  'an invoice with names of 200 characters': {
    ...invoice,
    seller: { ...seller, name: longName('Verkauf'), foot: `${longName('Foot')}\n${longName('Sitz')}` },
    buyer: {
      ...company,
      name: longName('Kauf'),
      address: {
        line1: 'L'.repeat(100),
        line2: 'M'.repeat(100),
        postcode: '1'.repeat(20),
        city: 'Ö'.repeat(100),
        country: 'AT',
      },
    },
    line: {
      ...invoice.line,
      title: longName('Plan'),
      description: 'Ein Wort nach dem anderen. '.repeat(18).trim(),
    },
  },
  'an invoice to a company without a VAT id': {
    ...invoice,
    buyer: { ...company, vat_id: null, email: null },
  },
} satisfies Record<string, DocumentFacts>;

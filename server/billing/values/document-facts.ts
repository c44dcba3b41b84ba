// What a document (an invoice or a credit note) says: made once, when it is issued, kept as JSON, and all that its page, PDF
// and XML are made from. Amounts are whole minor units of `currency`; days are such as 2026-11-26, in the seller's time zone.
import { minorDigits } from '../../basics/currencies.ts';

/** A postal address. `country` is an ISO 3166-1 alpha-2 code. Postcode and city are empty where addresses of the country have none. */
export type Address = {
  line1: string;
  line2?: string | undefined;
  postcode: string;
  city: string;
  country: string;
};

export type Seller = {
  name: string;
  address: Address;
  vat_id?: string | undefined;
  tax_number?: string | undefined;
  email: string;
  /** An IANA name, such as Europe/Berlin. */
  time_zone: string;
  currency: string;
  iban?: string | undefined;
  bic?: string | undefined;
  /** What stands at the foot of each page, such as the register and the managing director. */
  foot?: string | undefined;
};

/** `S` is taxed, `E` exempt (small businesses), `O` outside the scope of tax, `AE` reverse charge (UNCL 5305). */
export type TaxCategory = 'S' | 'E' | 'O' | 'AE';

export type DocumentFacts = {
  version: 1;
  kind: 'invoice' | 'credit_note';
  number: string;
  issued_on: string;
  /** Of an invoice: the last day to pay. Null for a credit note. */
  due_on: string | null;
  /** Of a credit note: the invoice that it corrects. */
  invoice: { number: string; issued_on: string } | null;
  /** Of an invoice: the number that a restore has lost, and that it takes the place of. Absent of all others. */
  replaces?: string | undefined;
  currency: string;
  seller: Seller;
  /** `name` is the company, or else the account's name. */
  buyer: {
    name: string;
    address: Address | null;
    /** The country that the tax is of, if they said no more of their address. */
    country?: string | undefined;
    vat_id: string | null;
    email: string | null;
  };
  /** What was sold, and for which days, both included. */
  line: { plan: string; title: string; description: string | null; first_day: string; last_day: string };
  /** Whether the plan's price is before tax. */
  prices: 'net' | 'gross';
  category: TaxCategory;
  /** Hundredths of a percent: 1900 is 19 %. */
  rate: number;
  /** Why no tax is charged, if none is. */
  words: string | null;
  net: number;
  tax: number;
  total: number;
  /** How to pay an invoice: words and a link of the settings. Null for a credit note. */
  payment: { text: string | null; link: string | null } | null;
  /** What belongs to the document and is not printed. Instants are RFC 3339. */
  record: {
    contract_id: string;
    account_id: string;
    /** The CRM's id of the contract; absent before version 0.5.0. A contract that a restore lost has another id of ours later. */
    signup_id?: string | undefined;
    period_starts_at: string;
    period_ends_at: string;
    issued_at: string;
    due_at: string | null;
    past_due_at: string | null;
    settings_version: number;
  };
};

/** Whether a document has XML (contract 7.207): EN 16931 asks for the buyer's address, and knows two digits at most. */
export const hasXml = ({ buyer, seller, currency, category }: DocumentFacts): boolean =>
  buyer.address !== null &&
  minorDigits(currency) <= 2 &&
  // BR-E-02: the standard lets nobody be exempt who is not registered.
  (category === 'O' || Boolean(seller.vat_id || seller.tax_number));

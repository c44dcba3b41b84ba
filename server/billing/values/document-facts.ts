// The facts of a document (an invoice or a credit note). They are stored as JSON when the document is issued. The document's
// page, PDF and XML come from the facts alone. Amounts are in minor units of `currency`. Days are in the seller's time zone,
// such as 2026-11-26.
import type { BillingAddress } from '../../../db/tables/billing-details.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { divideRounded } from './amounts.ts';
import { nameCountry } from './countries.ts';

export type Address = BillingAddress;

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
  /** Text at the foot of each page, such as the register and the managing director. */
  foot?: string | undefined;
};

/** `S` is taxed, `E` exempt (small businesses), `O` outside the scope of tax, and `AE` reverse charge (UNCL 5305). */
export type TaxCategory = 'S' | 'E' | 'O' | 'AE';

export type DocumentFacts = {
  version: 1;
  kind: 'invoice' | 'credit_note';
  number: string;
  issued_on: string;
  /** The last day to pay. Null for a credit note. */
  due_on: string | null;
  /** For a credit note, the invoice that it corrects. */
  invoice: { number: string; issued_on: string } | null;
  /** The number of the lost invoice that this one replaces after a restore. */
  replaces?: string | undefined;
  currency: string;
  seller: Seller;
  buyer: {
    /** The company or, without one, the account's name. */
    name: string;
    address: Address | null;
    /** The country that decides the tax if the buyer gave no address. */
    country?: string | undefined;
    vat_id: string | null;
    email: string | null;
  };
  /** The first day and the last day both belong to the period. */
  line: { plan: string; title: string; description: string | null; first_day: string; last_day: string };
  /**
   * The lines, if the document has charges or a quantity above 1. `amount` is for the whole `quantity`, and is below 0 for a
   * deduction. `amount` includes tax if `prices` is `gross`. `charge` is the CRM's id of a charge. The line of the period comes
   * first and has no `charge`.
   */
  lines?: { title: string; quantity: number; amount: number; charge?: string }[] | undefined;
  prices: 'net' | 'gross';
  category: TaxCategory;
  /** Hundredths of a percent: 1900 is 19 %. */
  rate: number;
  /** Why no tax is charged. */
  words: string | null;
  net: number;
  tax: number;
  total: number;
  /** What the settings said about payment. Null for a credit note. */
  payment: { text: string | null; link: string | null } | null;
  /** Documents do not print the record. Instants are in the form of RFC 3339. */
  record: {
    contract_id: string;
    account_id: string;
    /**
     * The CRM's id of the contract. Unlike `contract_id`, it stays the same after a restore. Documents from before 0.5.0 lack it.
     */
    signup_id?: string | undefined;
    period_starts_at: string;
    period_ends_at: string;
    issued_at: string;
    due_at: string | null;
    past_due_at: string | null;
    settings_version: number;
  };
};

type Party = { address: Address | null; country?: string | undefined };

/** Returns the lines of an address, or only the country if there is no address. */
export const listAddress = ({ address, country }: Party): (string | undefined)[] =>
  address
    ? [
        address.line1,
        address.line2,
        `${address.postcode} ${address.city}`.trim(),
        nameCountry(address.country),
      ]
    : [country && nameCountry(country)];

/** A line as documents print it. `amount` includes tax if `prices` is `gross`. `net` never includes tax. */
export type Line = {
  title: string;
  description: string | null;
  quantity: number;
  amount: number;
  net: number;
  isPeriod: boolean;
};

/** Gross lines are rounded together, so that their net amounts add up to the net amount of the document. */
export function listLines(facts: Pick<DocumentFacts, 'line' | 'lines' | 'prices' | 'net' | 'total'>): Line[] {
  const { line, lines, prices, net, total } = facts;
  const sum = prices === 'net' ? net : total;
  const given = lines ?? [{ title: line.title, quantity: 1, amount: sum }];
  let [before, netBefore] = [0, 0];
  return given.map(({ title, quantity, amount, charge }) => {
    before += amount;
    const netSoFar = sum === 0 ? 0 : Number(divideRounded(BigInt(before) * BigInt(net), BigInt(sum)));
    const netOfLine = netSoFar - netBefore;
    netBefore = netSoFar;
    const isPeriod = charge === undefined;
    return {
      title,
      description: isPeriod ? line.description : null,
      quantity,
      amount,
      net: netOfLine,
      isPeriod,
    };
  });
}

/** EN 16931 requires the buyer's address, and allows at most two decimals (contract 7.207). */
export const hasXml = ({ buyer, seller, currency, category }: DocumentFacts): boolean =>
  buyer.address !== null &&
  minorDigits(currency) <= 2 &&
  // An exempt seller must have a VAT id or a tax number (BR-E-02).
  (category === 'O' || Boolean(seller.vat_id || seller.tax_number));

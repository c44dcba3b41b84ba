// The settings of billing (contract 7.100 to 7.129): who sells, how documents are numbered, what is taxed, and how to pay.
import type { Seller, TaxCategory } from './document-facts.ts';

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

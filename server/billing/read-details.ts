// Billing details as people and signups give them (contract 7.232 to 7.234). Pure: each part is read on its own, into its usual
// form or a fault.
import type { BillingAddress, DetailValues } from '../../db/tables/billing-details.ts';
import type { FieldError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { readNewEmailAddress } from '../identity/ground/email-address.ts';
import type { Config } from '../settings/config.ts';
import { billingTextSchema, longestLine } from './billing-text.ts';
import { isCountry } from './countries.ts';
import { readVatId, readVatIdOfAny } from './vat-ids.ts';

/** As a form has them: what is empty is not there. */
export type GivenDetails = Record<
  'company' | 'line1' | 'line2' | 'postcode' | 'city' | 'country' | 'vatId' | 'invoiceEmail',
  string
>;

export type Read<Of> = { value: Of } | { errors: FieldError[] };

const companySchema = billingTextSchema(200);
const lineSchema = billingTextSchema(longestLine);

const fault = (name: string, detail: string) => ({ errors: [{ pointer: `/${name}`, detail }] });
const isEmpty = (text: string) => text.trim() === '';

export function readCompany(text: string): Read<string | null> {
  if (isEmpty(text)) return { value: null };
  const { data, error } = companySchema.safeParse(text);
  return data === undefined ? fault('company', firstOf(error)) : { value: data };
}

const firstOf = (error: { issues: { message: string }[] } | undefined) => error?.issues[0]?.message ?? '';

export type GivenAddress = Pick<GivenDetails, 'line1' | 'line2' | 'postcode' | 'city' | 'country'>;

const spellCountry = ({ country }: Pick<GivenDetails, 'country'>) => country.trim().toUpperCase();

/** An address is whole, or not there at all. */
export function readAddress(given: GivenAddress): Read<BillingAddress | null> {
  if (Object.values(given).every(isEmpty)) return { value: null };
  const errors: FieldError[] = [];
  const read = (name: 'line1' | 'line2' | 'postcode' | 'city'): string => {
    const { data, error } = lineSchema.safeParse(given[name]);
    if (data !== undefined) return data;
    const isMissing = isEmpty(given[name]);
    if (!(isMissing && name === 'line2'))
      errors.push({
        pointer: `/${name}`,
        detail: isMissing ? faultWords.address_part_missing : firstOf(error),
      });
    return '';
  };
  const [line1, line2, postcode, city] = [read('line1'), read('line2'), read('postcode'), read('city')];
  const country = spellCountry(given);
  if (!isCountry(country)) errors.push({ pointer: '/country', detail: faultWords.country_missing });
  if (errors.length > 0) return { errors };
  return { value: { line1, ...(line2 !== '' && { line2 }), postcode, city, country } };
}

/** `country` is that of the buyer's address, if it is known. */
export function readBuyerVatId(text: string, country: string | undefined): Read<string | null> {
  if (isEmpty(text)) return { value: null };
  const value = country === undefined ? readVatIdOfAny(text) : readVatId(country, text);
  return value === undefined ? fault('vatId', faultWords.vat_id_malformed) : { value };
}

export function readInvoiceEmail(text: string, config: Pick<Config, 'production'>): Read<string | null> {
  if (isEmpty(text)) return { value: null };
  const value = readNewEmailAddress(text.trim(), config);
  return value === undefined ? fault('invoiceEmail', faultWords.email_malformed) : { value };
}

/** All of a form, with everything that is wrong with it. */
export function readDetails(given: GivenDetails, config: Pick<Config, 'production'>): Read<DetailValues> {
  const { line1, line2, postcode, city, country } = given;
  const company = readCompany(given.company);
  const address = readAddress({ line1, line2, postcode, city, country });
  // Also where something else is wrong with the address.
  const named = spellCountry(given);
  const vatId = readBuyerVatId(given.vatId, isCountry(named) ? named : undefined);
  const invoiceEmail = readInvoiceEmail(given.invoiceEmail, config);
  const errors = [company, address, vatId, invoiceEmail].flatMap((read) =>
    'errors' in read ? read.errors : [],
  );
  if ('errors' in company || 'errors' in address || 'errors' in vatId || 'errors' in invoiceEmail)
    return { errors };
  return {
    value: {
      company: company.value,
      address: address.value,
      vatId: vatId.value,
      invoiceEmail: invoiceEmail.value,
    },
  };
}

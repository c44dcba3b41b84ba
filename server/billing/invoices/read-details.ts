// Reads billing details from forms and signups (contract 7.232 to 7.234, 7.390 to 7.393). Each detail is read by itself, so
// that a fault in one detail does not affect the other details.
import type {
  BillingAddress,
  BillingDetails,
  DetailName,
  DetailValues,
} from '../../../db/tables/billing-details.ts';
import type { FieldError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { readNewEmailAddress } from '../../identity/ground/email-address.ts';
import type { Config } from '../../settings/config.ts';
import { billingTextSchema, longestLine } from '../values/billing-text.ts';
import { hasAddressPart, readCountry } from '../values/countries.ts';
import { isMistypedVatId, isSameVatId, isVatIdOf, readVatId, readVatIdOfAny } from '../values/vat-ids.ts';

/** As in a form, an empty text means that the detail is missing. */
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

/** A country may come without an address. An address is always complete. */
export type Place = Pick<DetailValues, 'address' | 'country'>;

export function readAddress({ country: code, ...given }: GivenAddress): Read<Place> {
  const country = readCountry(code);
  if (Object.values(given).every(isEmpty)) {
    if (country === undefined && !isEmpty(code)) return fault('country', faultWords.country_missing);
    return { value: { address: null, country: country ?? null } };
  }
  const errors: FieldError[] = [];
  const read = (name: 'line1' | 'line2' | 'postcode' | 'city'): string => {
    const { data, error } = lineSchema.safeParse(given[name]);
    if (data !== undefined) return data;
    const isMissing = isEmpty(given[name]);
    const mayMiss =
      name === 'line2' || (name !== 'line1' && country !== undefined && !hasAddressPart(country, name));
    if (!(isMissing && mayMiss))
      errors.push({
        pointer: `/${name}`,
        detail: isMissing ? faultWords.address_part_missing : firstOf(error),
      });
    return '';
  };
  const [line1, line2, postcode, city] = [read('line1'), read('line2'), read('postcode'), read('city')];
  if (country === undefined) errors.push({ pointer: '/country', detail: faultWords.country_missing });
  if (errors.length > 0 || country === undefined) return { errors };
  const address: BillingAddress = { line1, ...(line2 !== '' && { line2 }), postcode, city, country };
  return { value: { address, country } };
}

/**
 * `country` is the country of the buyer's address. `known` is the stored VAT id. It is accepted even if a digit in it seems
 * wrong.
 */
export function readBuyerVatId(
  text: string,
  country: string | undefined,
  known: string | null = null,
): Read<string | null> {
  if (isEmpty(text)) return { value: null };
  const value = country === undefined ? readVatIdOfAny(text) : readVatId(country, text);
  if (value !== undefined) return { value };
  if (!isMistypedVatId(text)) return fault('vatId', faultWords.vat_id_malformed);
  const isKnown = isSameVatId(text, known) && (country === undefined || isVatIdOf(country, known ?? ''));
  return isKnown ? { value: known } : fault('vatId', faultWords.vat_id_digits);
}

export function readInvoiceEmail(text: string, config: Pick<Config, 'production'>): Read<string | null> {
  if (isEmpty(text)) return { value: null };
  const value = readNewEmailAddress(text.trim(), config);
  return value === undefined ? fault('invoiceEmail', faultWords.email_malformed) : { value };
}

type Known = { known: DetailValues; isGiven: (...names: (keyof GivenDetails)[]) => boolean };

/**
 * A detail that is not given stays as in `known`. Such a detail is not checked, because somebody else may have entered it, and
 * a fault in it must not stop this change.
 */
export function readDetails(
  given: GivenDetails,
  config: Pick<Config, 'production'>,
  { known, isGiven }: Known,
): Read<DetailValues> {
  const { line1, line2, postcode, city, country } = given;
  const company = isGiven('company') ? readCompany(given.company) : { value: known.company };
  const address = isGiven('line1', 'line2', 'postcode', 'city', 'country')
    ? readAddress({ line1, line2, postcode, city, country })
    : { value: { address: known.address, country: known.country } };
  // The VAT id is checked against the country even if something else is wrong with the address.
  const vatId = isGiven('country', 'vatId')
    ? readBuyerVatId(given.vatId, readCountry(given.country), known.vatId)
    : { value: known.vatId };
  const invoiceEmail = isGiven('invoiceEmail')
    ? readInvoiceEmail(given.invoiceEmail, config)
    : { value: known.invoiceEmail };
  const errors = [company, address, vatId, invoiceEmail].flatMap((read) =>
    'errors' in read ? read.errors : [],
  );
  if ('errors' in company || 'errors' in address || 'errors' in vatId || 'errors' in invoiceEmail)
    return { errors };
  return {
    value: {
      company: company.value,
      ...address.value,
      vatId: vatId.value,
      invoiceEmail: invoiceEmail.value,
    },
  };
}

/** JSON pointers to the details in a signup. */
export const pointers: Record<DetailName, string> = {
  company: '/account/billing/company',
  address: '/account/billing/address',
  vatId: '/account/billing/vat_id',
  invoiceEmail: '/account/billing/invoice_email',
};

export const allPointer = '/account/billing';

/** Returns whether the left-out part at `pointer` may have contained a country. */
export const mayHideCountry = (pointer: string): boolean =>
  pointer === allPointer || pointer === pointers.address;

/** Returns whether the country is unknown because the signup's address could not be read. */
export const isCountryUnread = ({ country, ignored }: Pick<BillingDetails, 'country' | 'ignored'>): boolean =>
  country === null && ignored.some(mayHideCountry);

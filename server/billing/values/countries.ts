// Countries in addresses and tax rules, by the assigned codes of ISO 3166-1 alpha-2.
import { formatAddress } from 'localized-address-format';

const codes = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
    'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR ' +
    'GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO ' +
    'JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR ' +
    'MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO ' +
    'RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV ' +
    'TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
  ).split(' '),
);

/** People write UK for the United Kingdom. VAT ids write EL for Greece. */
const otherCodes: Record<string, string> = { UK: 'GB', EL: 'GR' };

export function readCountry(text: string): string | undefined {
  const letters = text.normalize('NFKC').trim();
  // This check comes before toUpperCase, because that turns ß into SS.
  if (!/^[A-Za-z]{2}$/.test(letters)) return undefined;
  const code = letters.toUpperCase();
  const known = otherCodes[code] ?? code;
  return isCountry(known) ? known : undefined;
}

export const isCountry = (code: string): boolean => codes.has(code);

const names = new Intl.DisplayNames('en', { type: 'region' });

export const nameCountry = (code: string): string => names.of(code) ?? code;

export const listCountries = (): { code: string; name: string }[] =>
  [...codes]
    .map((code) => ({ code, name: nameCountry(code) }))
    .sort((one, other) => one.name.localeCompare(other.name, 'en'));

const codesByName = new Map(listCountries().map(({ code, name }) => [name.toLowerCase(), code]));

export const findCountryByName = (name: string): string | undefined =>
  codesByName.get(name.trim().toLowerCase());

/** The countries of the EU. */
export const memberStates =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ');

export const isMemberState = (country: string): boolean => memberStates.includes(country);

/**
 * Returns whether addresses in the country have this part, by the table of Google's libaddressinput. The package does not export
 * the table, so this formats an address.
 */
export const hasAddressPart = (country: string, part: 'postcode' | 'city'): boolean => {
  const name = part === 'postcode' ? 'postalCode' : 'locality';
  return formatAddress({ postalCountry: country, [name]: '?' }).some((line) => line.includes('?'));
};

// Bank accounts in free texts of the settings (contract 7.383 and 7.384): documents print these texts at once, and another account
// must wait for 24 hours. So the only account that a text may name is the one in force.
import { countrySpecs } from 'ibantools';
import type { FieldError } from '../basics/errors.ts';
import { isObject } from '../basics/is-object.ts';
import { readIban } from './bank-account.ts';
import type { BillingSettings } from './settings.ts';

/** Each IBAN that stands in a text, without spaces and in capitals, whatever signs stand between its letters and digits. */
export function findIbans(text: string): string[] {
  const signs = text
    .normalize('NFKC')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '');
  return [...signs.matchAll(/(?=([A-Z]{2})\d\d)/g)].flatMap(({ index, 1: country = '' }) => {
    const spec = Object.hasOwn(countrySpecs, country) ? countrySpecs[country] : undefined;
    if (!spec?.chars || !spec.bban_regexp) return [];
    const found = signs.slice(index, index + spec.chars);
    const isOne = new RegExp(spec.bban_regexp).test(found.slice(4)) && readIban(found) === found;
    return isOne ? [found] : [];
  });
}

// These count after 24 hours.
const bankPointers = ['/seller/iban', '/seller/bic', '/payment/link'];

const detail =
  'This text names a bank account that is not the one in force. Change the account in the field for the IBAN: it counts after 24 hours. Documents print it by themselves.';

/** A fault for each text that names another account than this one. */
export const findOtherAccounts = (settings: BillingSettings, iban: string | undefined): FieldError[] =>
  listTexts(settings).flatMap(([pointer, text]) =>
    !bankPointers.includes(pointer) && findIbans(text).some((found) => found !== iban)
      ? [{ pointer, detail }]
      : [],
  );

function listTexts(value: unknown, pointer = ''): [pointer: string, text: string][] {
  if (typeof value === 'string') return [[pointer, value]];
  if (!isObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => listTexts(each, `${pointer}/${name}`));
}

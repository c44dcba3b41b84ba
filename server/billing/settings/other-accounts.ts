// Looks for bank accounts in free texts of the settings (contract 7.383). Documents print a new text immediately, but a new
// bank account takes effect only after 24 hours. So a new text may name only the bank account in force.
import { countrySpecs } from 'ibantools';
import type { FieldError } from '../../basics/errors.ts';
import { isObject } from '../../basics/is-object.ts';
import { readIban } from '../values/bank-account.ts';
import type { BillingSettings } from './settings.ts';

/**
 * Finds each IBAN in a text, and returns it without spaces and in capitals. Other signs may be between its letters and digits,
 * except `/`, `:` and `,`. These often separate numbers that would be an IBAN by chance if they were joined.
 */
export const findIbans = (text: string): string[] =>
  text
    .normalize('NFKC')
    .replaceAll(/\p{Nd}/gu, spellDigit)
    .split(/[/:,]/)
    .map((run) => run.replaceAll(/[^A-Za-z0-9]/g, ''))
    .flatMap(findInRun);

/** Converts a digit of any script to ASCII. In Unicode, the ten digits of a script follow each other. */
function spellDigit(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  let digit = 0;
  while (digit < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - digit - 1))) digit++;
  return String(digit);
}

const findInRun = (signs: string): string[] =>
  // Somebody may write the check digits as letters that look like digits, to get past this check.
  [...signs.matchAll(/(?=([A-Za-z]{2})[0-9OoIil]{2})/g)].flatMap(({ index, 1: letters = '' }) => {
    const country = letters.toUpperCase();
    const spec = Object.hasOwn(countrySpecs, country) ? countrySpecs[country] : undefined;
    if (!spec?.chars || !spec.bban_regexp) return [];
    const form = new RegExp(spec.bban_regexp);
    const written = signs.slice(index, index + spec.chars);
    const found = readings(written, spec.bban_regexp).find(
      (each) => form.test(each.slice(4)) && readIban(each) === each,
    );
    return found === undefined ? [] : [found];
  });

/**
 * Returns three readings of the text. The first is the text as written. The other two have digits in place of letters that look
 * like digits: the second only in places that allow no letter, the third in all places that allow a digit.
 */
function readings(written: string, form: string): string[] {
  // A form looks like [A-Z]{4}[0-9]{14}.
  const kinds = [...form.matchAll(/\[([^\]]+)\](?:\{(\d+)\})?/g)].flatMap(([, signs = '', count = '1']) =>
    Array<string>(Number(count)).fill(signs),
  );
  const readAs = (isDigit: (kind: string) => boolean) =>
    [...written]
      .map((sign, place) => {
        if (place < 2) return sign;
        return place < 4 || isDigit(kinds[place - 4] ?? '') ? (lookAlikes[sign] ?? sign) : sign;
      })
      .join('')
      .toUpperCase();
  return [
    written.toUpperCase(),
    readAs((kind) => !kind.includes('A-Z')),
    readAs((kind) => kind.includes('0-9')),
  ];
}

const lookAlikes: Record<string, string> = { O: '0', o: '0', I: '1', i: '1', l: '1' };

// These members are not searched, because a change of them takes effect only after 24 hours.
const bankPointers = ['/seller/iban', '/seller/bic', '/payment/link'];

const detail =
  'This text names a bank account that is not the one in force. Change the account in the field for the IBAN: it counts after 24 hours. Documents print it by themselves.';

/**
 * Returns a fault for each text that names an account other than the one in force. A text that is in force already is not
 * refused.
 */
export function findOtherAccounts(
  settings: BillingSettings,
  inForce: BillingSettings | undefined,
): FieldError[] {
  const { iban } = (inForce ?? settings).seller;
  const listOthers = (text: string) => findIbans(text).filter((found) => found !== iban);
  const known = new Set(listTexts(inForce).map(([, text]) => text));
  const single = listTexts(settings).filter(
    ([pointer, text]) => !bankPointers.includes(pointer) && !known.has(text) && listOthers(text).length > 0,
  );
  const knownJoined = new Set(inForce && listJoined(inForce).map(([, lines]) => lines.join(' ')));
  const joined = listJoined(settings).filter(([, lines]) => {
    const text = lines.join(' ');
    // If an IBAN is within one line, the fault is reported for that line, and not for the joined lines.
    const inLines = lines.flatMap(listOthers);
    return !knownJoined.has(text) && listOthers(text).some((found) => !inLines.includes(found));
  });
  return [...single, ...joined].map(([pointer]) => ({ pointer, detail }));
}

export function listTexts(value: unknown, pointer = ''): [pointer: string, text: string][] {
  if (typeof value === 'string') return [[pointer, value]];
  if (!isObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => listTexts(each, `${pointer}/${name}`));
}

/** Returns lines that documents print one below the other, because an IBAN may be split between them. */
function listJoined({ seller, plans }: BillingSettings): [pointer: string, lines: string[]][] {
  const { line1, line2 = '', postcode, city } = seller.address;
  return [
    ['/seller/address/line1', [line1, line2, postcode, city]],
    ...Object.entries(plans).map(([plan, { title, description = '' }]): [string, string[]] => [
      `/plans/${plan}/title`,
      [title, description],
    ]),
  ];
}

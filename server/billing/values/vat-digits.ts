// Checks the check digits of VAT ids in the EU, by country (contract 7.484). An id is accepted if there is no rule for its
// country or kind here. Bulgaria and Czechia have other rules for people than for companies, and the rules of some new ids are
// not public.

/** Adds up what `countOf` gives for each digit. `n` is the place of the digit, from 0. */
const addUp = (digits: string, countOf: (digit: number, n: number) => number): number =>
  [...digits].reduce((all, digit, n) => all + countOf(Number(digit), n), 0);

const sum = (digits: string, weights: number[]): number =>
  addUp(digits.slice(0, weights.length), (digit, n) => digit * (weights[n] ?? 0));

/** Doubles a digit. If the result has two digits, adds them: twice 8 is 1 + 6. */
const twice = (digit: number) => (digit > 4 ? 2 * digit - 9 : 2 * digit);

/** The Luhn algorithm: counted from the end, each second digit is doubled. */
const isLuhn = (digits: string): boolean =>
  addUp([...digits].reverse().join(''), (digit, n) => (n % 2 ? twice(digit) : digit)) % 10 === 0;

/** The algorithm of ISO 7064, MOD 11,10. */
function isMod11And10(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) product = (2 * ((product + Number(digit)) % 10 || 10)) % 11;
  return (11 - product) % 10 === Number(digits.at(-1));
}

/** The algorithm of ISO 7064, MOD 97-10. The letters A to Z have the values 10 to 35. */
const isMod97 = (text: string): boolean =>
  Number(BigInt([...text].map((character) => Number.parseInt(character, 36)).join('')) % 97n) === 1;

const personLetters = 'TRWAGMYFPDXBNJZSQVHLCKE';
const isSpanishPerson = (id: string) =>
  personLetters[Number(id.slice(0, 8).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)))) % 23] ===
  id[8];

function isSpanishCompany(id: string): boolean {
  const check = (10 - (addUp(id.slice(1, 8), (digit, n) => (n % 2 ? digit : twice(digit))) % 10)) % 10;
  return id[8] === String(check) || id[8] === 'JABCDEFGHI'[check];
}

/** The digits have the weights 1 to 9 in turn. If the remainder is 10, the weights begin with 3 instead. */
function isLithuanian(id: string): boolean {
  const turn = (from: number) => addUp(id.slice(0, -1), (digit, n) => digit * (1 + ((n + from) % 9))) % 11;
  return (turn(0) === 10 ? turn(2) % 10 : turn(0)) === Number(id.at(-1));
}

const irishLetters = 'WABCDEFGHIJKLMNOPQRSTUV';
function isIrish(id: string): boolean {
  // The older form has a letter or sign in second place. In that form, the first digit is read as the last one.
  const [digits, letters] = /^\d{7}/.test(id)
    ? [id.slice(0, 7), id.slice(7)]
    : [`0${id.slice(2, 7)}${id[0]}`, id[7]];
  const [first = '', second = 'W'] = letters ?? '';
  return irishLetters[(sum(digits, [8, 7, 6, 5, 4, 3, 2]) + 9 * irishLetters.indexOf(second)) % 23] === first;
}

const cypriotOdds = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];

const rules: Record<string, (id: string) => boolean> = {
  AT: (id) => {
    const all = addUp(id.slice(1, 8), (digit, n) => (n % 2 ? twice(digit) : digit));
    return (10 - ((all + 4) % 10)) % 10 === Number(id[8]);
  },
  BE: (id) => 97 - (Number(id.slice(0, 8)) % 97) === Number(id.slice(8)),
  CY: (id) => {
    const all = addUp(id.slice(0, 8), (digit, n) => (n % 2 ? digit : (cypriotOdds[digit] ?? 0)));
    return String.fromCharCode(65 + (all % 26)) === id[8];
  },
  DE: isMod11And10,
  DK: (id) => sum(id, [2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0,
  EE: (id) => sum(id, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0,
  ES: (id) =>
    /^[\dXYZ]/.test(id) ? isSpanishPerson(id) : /^[A-HJNP-SUVW]/.test(id) ? isSpanishCompany(id) : true,
  FI: (id) => sum(id, [7, 9, 10, 5, 8, 4, 2, 1]) % 11 === 0,
  // Ids with a letter in the first two places have another rule, so they are accepted.
  FR: (id) => /^\D|^.\D/.test(id) || (12 + 3 * (Number(id.slice(2)) % 97)) % 97 === Number(id.slice(0, 2)),
  GR: (id) => (sum(id, [256, 128, 64, 32, 16, 8, 4, 2]) % 11) % 10 === Number(id[8]),
  HR: isMod11And10,
  HU: (id) => sum(id, [9, 7, 3, 1, 9, 7, 3, 1]) % 10 === 0,
  IE: isIrish,
  IT: isLuhn,
  LT: isLithuanian,
  LU: (id) => Number(id.slice(0, 6)) % 89 === Number(id.slice(6)),
  // Ids of people begin with 0 to 3. New ids of people have no check digit, so each id of a person is accepted.
  LV: (id) => /^[0-3]/.test(id) || sum(id, [9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1]) % 11 === 3,
  MT: (id) => sum(id, [3, 4, 6, 7, 8, 9, 10, 1]) % 37 === 0,
  // Ids of companies follow the older rule, which is the last check here. Since 2020, people in business have ids by MOD 97-10.
  NL: (id) =>
    /[+*]/.test(id) ||
    isMod97(`NL${id}`) ||
    (/^\d{9}/.test(id) && sum(id, [9, 8, 7, 6, 5, 4, 3, 2]) % 11 === Number(id[8])),
  PL: (id) => sum(id, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === Number(id[9]),
  PT: (id) => ((11 - (sum(id, [9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11) % 10 === Number(id[8]),
  RO: (id) => ((10 * sum(id.padStart(10, '0'), [7, 5, 3, 2, 1, 7, 5, 3, 2])) % 11) % 10 === Number(id.at(-1)),
  SE: (id) => isLuhn(id.slice(0, 10)),
  SI: (id) => (11 - (sum(id, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === Number(id[7]),
  SK: (id) => BigInt(id) % 11n === 0n,
};

/** `id` is without its prefix, and its form fits its country. */
export const hasRightVatDigits = (country: string, id: string): boolean => rules[country]?.(id) ?? true;

// A code as people type it (contract 9.247).

/**
 * The letters and digits of a code, on whatever keyboard they were typed: any decimal digit is 0 to 9, letters are small and in
 * one spelling, and everything else is left out, such as spaces, hyphens, dots and marks of direction.
 */
export const readTypedCode = (typed: string): string =>
  Array.from(typed, (sign) =>
    isDigit(sign) ? String(readDigit(sign)) : isLetter(sign) ? sign.normalize('NFKC').toLowerCase() : '',
  ).join('');

const isDigit = (sign: string) => /^\p{Nd}$/u.test(sign);
const isLetter = (sign: string) => /^\p{L}$/u.test(sign);

/** Unicode has the digits of each script in a row, from 0 to 9, and where rows touch, as those for mathematics do, whole rows. */
function readDigit(digit: string): number {
  let first = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (isDigit(String.fromCodePoint(first - 1))) {
    first--;
    before++;
  }
  return before % 10;
}

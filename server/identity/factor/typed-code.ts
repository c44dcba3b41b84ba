/**
 * Digits of any script become 0 to 9. Letters get their NFKC form in lower case. Everything else is dropped, such as spaces
 * (contract 9.247).
 */
export const readTypedCode = (typed: string): string =>
  Array.from(typed, (sign) =>
    isDigit(sign) ? String(readDigit(sign)) : isLetter(sign) ? sign.normalize('NFKC').toLowerCase() : '',
  ).join('');

const isDigit = (sign: string) => /^\p{Nd}$/u.test(sign);
const isLetter = (sign: string) => /^\p{L}$/u.test(sign);

/**
 * Returns the value of a digit of any script. In Unicode, the digits 0 to 9 of a script follow each other, and the digits of
 * another script may come directly before them. So the value is the number of digits directly before this digit, modulo ten.
 */
function readDigit(digit: string): number {
  let first = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (isDigit(String.fromCodePoint(first - 1))) {
    first--;
    before++;
  }
  return before % 10;
}

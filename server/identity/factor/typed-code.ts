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
 * In Unicode, the digits 0 to 9 of a script follow each other. The digits of two scripts may touch, so this counts back over
 * all digits without a gap, modulo ten.
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

/** Digits become 0 to 9. Letters become small and get one spelling. All else is dropped, such as spaces (contract 9.247). */
export const readTypedCode = (typed: string): string =>
  Array.from(typed, (sign) =>
    isDigit(sign) ? String(readDigit(sign)) : isLetter(sign) ? sign.normalize('NFKC').toLowerCase() : '',
  ).join('');

const isDigit = (sign: string) => /^\p{Nd}$/u.test(sign);
const isLetter = (sign: string) => /^\p{L}$/u.test(sign);

/** Unicode has the digits of each script in a row from 0 to 9. Some rows touch, but each is whole, so this counts by tens. */
function readDigit(digit: string): number {
  let first = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (isDigit(String.fromCodePoint(first - 1))) {
    first--;
    before++;
  }
  return before % 10;
}

// Whether values that ought to be random can be guessed.

/** If two values in a row differ in no more characters than this, somebody can guess the next value. */
export const maxGuessable = 8;

/** Counts the characters that differ: all but the common beginning and the common end. */
export function countDiffering(values: readonly string[]): number {
  const lengths = values.map(({ length }) => length);
  const [first = ''] = values;
  const countAlike = (at: (text: string, index: number) => string | undefined) => {
    let count = 0;
    while (count < Math.min(...lengths) && values.every((each) => at(each, count) === at(first, count)))
      count++;
    return count;
  };
  const start = countAlike((text, index) => text[index]);
  const end = countAlike((text, index) => text[text.length - 1 - index]);
  return Math.max(...lengths) - Math.min(start + end, Math.min(...lengths));
}

/** Whether the value has less than 64 bits, judged by its length and its kinds of characters. */
export function isShort(value: string): boolean {
  const least = /^\d*$/.test(value)
    ? 20
    : /^[0-9a-f]*$/i.test(value)
      ? 16
      : /^[0-9a-z]*$/.test(value)
        ? 12
        : 11;
  return value.length < least;
}

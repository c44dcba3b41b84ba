// Whether values that ought to be random can be guessed.

/** If no more characters than this differ from one value to the next, the next one can be guessed. */
export const maxGuessable = 8;

/** How many characters lie between what all values begin and end with. */
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

/** Whether it has less than 64 bits, as far as its characters tell. */
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

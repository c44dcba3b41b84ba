// Text of sellers, buyers and plans, which documents print and their XML holds (contract 7.104).
import { z } from 'zod';
import { isVisible, notShown } from '../../basics/names.ts';

// XML has no way to write some of them, and none means anything.
const noncharacter = /\p{Noncharacter_Code_Point}/u;

/** Whether nothing in the text keeps a document from being made, whatever the font is. */
export const isPrintable = (text: string): boolean => !noncharacter.test(text);

/** How a line of an address is bounded. */
export const longestLine = 100;

/** Text on one line: trimmed, of 1 to `longest` code points, one of them visible, and nothing that could garble a document. */
export const billingTextSchema = (longest: number) =>
  z
    .string()
    // Before any other work is done with it: a code point is two units at most.
    .max(2 * longest + 1_000, { error: tooLong(longest), abort: true })
    .trim()
    .refine(isVisible, { error: 'Enter a text.', abort: true })
    .refine((text) => Array.from(text).length <= longest, tooLong(longest))
    .refine(
      (text) => !notShown.test(text) && isPrintable(text),
      'Use one line, without characters that cannot be shown.',
    );

const tooLong = (longest: number) => `Use no more than ${longest} characters.`;

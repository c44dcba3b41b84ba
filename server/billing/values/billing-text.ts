// Text of sellers, buyers and plans: documents print it, and their XML contains it (contract 7.104).
import { z } from 'zod';
import { isVisible, notShown } from '../../basics/names.ts';

// XML cannot write some of them, and they mean nothing.
const noncharacter = /\p{Noncharacter_Code_Point}/u;

/** Whether a document can contain the text, apart from characters that its font lacks. */
export const isPrintable = (text: string): boolean => !noncharacter.test(text);

/** The longest line of an address, in code points. */
export const longestLine = 100;

/** One line of 1 to `longest` code points, trimmed, with at least one that is visible and none that could garble a document. */
export const billingTextSchema = (longest: number) =>
  z
    .string()
    // Bounds the work of the checks below. A code point has two units at most.
    .max(2 * longest + 1_000, { error: tooLong(longest), abort: true })
    .trim()
    .refine(isVisible, { error: 'Enter a text.', abort: true })
    .refine((text) => Array.from(text).length <= longest, tooLong(longest))
    .refine(
      (text) => !notShown.test(text) && isPrintable(text),
      'Use one line, without characters that cannot be shown.',
    );

const tooLong = (longest: number) => `Use no more than ${longest} characters.`;

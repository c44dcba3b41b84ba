// Checks the texts of sellers, buyers and plans that documents and their XML contain (contract 7.104).
import { z } from 'zod';
import { isVisible, notShown } from '../../basics/names.ts';

// Noncharacters of Unicode mean nothing, and XML cannot contain some of them. So all are refused.
const noncharacter = /\p{Noncharacter_Code_Point}/u;

/** Returns whether a document can contain the text. Does not check that the font has its characters. */
export const isPrintable = (text: string): boolean => !noncharacter.test(text);

/** The longest line of an address, in code points. */
export const longestLine = 100;

/**
 * Accepts one trimmed line of 1 to `longest` code points. At least one code point must be visible. Characters that cannot be
 * shown, such as line ends, are refused.
 */
export const billingTextSchema = (longest: number) =>
  z
    .string()
    // This limits the work of the checks below. A code point has at most two UTF-16 units.
    .max(2 * longest + 1_000, { error: tooLong(longest), abort: true })
    .trim()
    .refine(isVisible, { error: 'Enter a text.', abort: true })
    .refine((text) => Array.from(text).length <= longest, tooLong(longest))
    .refine(
      (text) => !notShown.test(text) && isPrintable(text),
      'Use one line, without characters that cannot be shown.',
    );

const tooLong = (longest: number) => `Use no more than ${longest} characters.`;

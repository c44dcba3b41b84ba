// Names of people and accounts (contract 9.15).

import { z } from 'zod';
import { faultWords } from './fault-words.ts';
import { textBounds } from './text.ts';

// Unicode's embeddings, overrides and isolates are invisible, and can reverse the text around a name. Direction marks cannot do
// that, and some names need them.
export const notShown = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

// Default_Ignorable covers fillers, which Unicode classes as letters. The last two characters are the braille blank and the
// null notehead, which no property covers.
const visible = /[^\p{Z}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;

export const isVisible = (text: string): boolean => visible.test(text);

/** Returns the first letter or digit with all its marks. If there is none, the first sign, such as an emoji. */
export function findInitial(name: string): string {
  const signs = [...new Intl.Segmenter('en').segment(name)].map(({ segment }) => segment).filter(isVisible);
  return signs.find((sign) => /[\p{L}\p{N}]/u.test(sign)) ?? signs[0] ?? '';
}

/** `most` is the most code points that the name may have. */
export const buildNameSchema = (most: number, tooLong: string) =>
  z
    .string()
    .max(textBounds.name, { error: tooLong, abort: true })
    .trim()
    .refine(isVisible, { error: faultWords.name_missing, abort: true })
    .refine((name) => Array.from(name).length <= most, tooLong)
    .refine((name) => !notShown.test(name), faultWords.name_not_shown)
    .meta({ minLength: 1 })
    .describe(`1 to ${most} characters, without spaces around them, one of them visible.`);

export const nameSchema = buildNameSchema(200, faultWords.name_too_long);

// Names of people and accounts (contract 9.15).
import { z } from 'zod';
import { textBounds } from '../../http/text.ts';

// Embeddings, overrides and isolates can reverse the text around a name. Plain direction marks cannot, and Arabic and
// Hebrew names need these marks.
const forbidden = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

// Fillers count as letters, but are default-ignorable; the braille blank and the null notehead are neither, so they are named.
const visible = /[^\p{Z}\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;

const tooLong = 'Use no more than 200 characters.';

/** A name: trimmed, of 1 to 200 code points, at least one of them visible, and nothing that could garble the page around it. */
export const nameSchema = z
  .string()
  .max(textBounds.name, { error: tooLong, abort: true })
  .trim()
  .refine((name) => visible.test(name), { error: 'Enter a name.', abort: true })
  .refine((name) => Array.from(name).length <= 200, tooLong)
  .refine(
    (name) => !forbidden.test(name),
    'Remove characters that cannot be shown, such as control characters.',
  )
  .meta({ minLength: 1 })
  .describe('1 to 200 characters, without spaces around them, one of them visible.');

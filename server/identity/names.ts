// Names of people and accounts (contract section 9).
import { z } from 'zod';

// Embeddings, overrides and isolates turn the text around them; plain direction marks, which Arabic and
// Hebrew names need, do not.
const forbidden = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Trimmed, 1 to 200 code points, nothing that could garble the page it is shown on. */
export const nameSchema = z
  .string()
  .trim()
  .refine((name) => name !== '', { error: 'Please enter a name.', abort: true })
  .refine((name) => Array.from(name).length <= 200, 'Please keep it to 200 characters.')
  .refine(
    (name) => !forbidden.test(name),
    'This contains characters that cannot be shown, such as control characters.',
  );

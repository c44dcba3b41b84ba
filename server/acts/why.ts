// Why staff or an operator does something (contract 12.17).
import { z } from 'zod';
import { AppError, toFieldErrors } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { notShown } from '../basics/names.ts';
import { textBounds } from '../basics/text.ts';

export const whySchema = z
  .string()
  // text.ts has cut the end off any longer text. Such a text must be refused, and not stored without its end.
  .max(textBounds.why, faultWords.why_length)
  .trim()
  .refine((why) => [...why].length >= 3 && [...why].length <= 500, faultWords.why_length)
  .refine((why) => !notShown.test(why), faultWords.why_not_shown);

/** Throws 422 `validation_failed`. */
export function readWhy(text: string): string {
  const why = whySchema.safeParse(text);
  if (why.success) return why.data;
  const errors = toFieldErrors(why.error).slice(0, 1);
  throw new AppError('validation_failed', { errors: errors.map((each) => ({ ...each, pointer: '/why' })) });
}

// What administrators do with money (contract 7.151 to 7.160), for programs; and with money and mails by the forms of their pages.
import { z } from 'zod';
import { actOnBooks, type BookAct, type BookFields } from '../../acts/act-on-books.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { textSchema } from '../../basics/text.ts';
import { signupIdSchema } from '../../billing/contracts/signup-message.ts';
import {
  allocatePayment,
  cancelContract,
  credit,
  paidBack,
  recordPayment,
  reissue,
} from '../../staff/book-acts.ts';
import { describeForStaff, describePreview, listWaiting } from '../../staff/books.ts';
import { giveUpMailAct, retryMailAct } from '../../staff/mails.ts';
import { router, staff } from './init.ts';

// A member that is missing is refused in its turn (contract 12.14), not before.
const text = (name: Parameters<typeof textSchema>[0]) => textSchema(name).default('');

/** An act with these fields. Programs may leave `seen` out. */
export const act = <Read, Result>(bookAct: BookAct<Read, Result>, ...fields: (keyof BookFields)[]) =>
  staff
    .input(
      z.object({
        ...{ why: text('why'), seen: textSchema('seen').optional() },
        ...(Object.fromEntries(fields.map((name) => [name, textSchema(name).optional()])) as {
          [Name in keyof BookFields]-?: z.ZodOptional<ReturnType<typeof textSchema>>;
        }),
      }),
    )
    .mutation(({ ctx, input }) => actOnBooks(ctx.deps, ctx, bookAct, input));

export const moneyRouter = router({
  recordPayment: act(recordPayment, 'number', 'payment', 'amount', 'paidAt', 'method'),
  credit: act(credit, 'number', 'amount'),
  reissue: act(reissue, 'number'),
  allocate: act(allocatePayment, 'payment', 'number'),
  paidBack: act(paidBack, 'payment'),
  cancelContract: act(cancelContract, 'contract'),
});

/** By the intents of the forms. */
// biome-ignore lint/suspicious/noExplicitAny: each act does what it has read itself
const intents: Record<string, BookAct<any, unknown>> = {
  pay: recordPayment,
  credit: credit,
  reissue: reissue,
  allocate: allocatePayment,
  'paid-back': paidBack,
  retry: retryMailAct,
  'give-up': giveUpMailAct,
};

export const booksFormsRouter = router({
  /** An invoice or a credit note. */
  document: staff
    .input(z.object({ number: text('number') }))
    .query(({ ctx, input }) => describeForStaff(ctx.deps, ctx, input.number)),

  /** What a contract will be charged, for its page. */
  preview: staff
    .input(z.object({ signup: signupIdSchema, months: z.int().min(1).max(120) }))
    .query(({ ctx, input: { signup, months } }) => describePreview(ctx.deps, ctx, signup, months)),

  waiting: staff.query(({ ctx }) => listWaiting(ctx.deps, ctx)),

  /** A form of these pages. Throws 400 `invalid_request` for another intent. */
  act: staff
    .input(
      z.object({
        ...{ why: text('why'), seen: text('seen'), intent: z.string() },
        given: z.partialRecord(z.enum(['number', 'payment', 'amount', 'paidAt', 'method', 'id']), z.string()),
      }),
    )
    .mutation(({ ctx, input: { intent, given, ...more } }) => {
      const asked = Object.hasOwn(intents, intent) ? intents[intent] : undefined;
      if (!asked) throw new AppError('invalid_request', { detail: faultWords.choice_missing });
      return actOnBooks(ctx.deps, ctx, asked, { ...more, ...given });
    }),
});

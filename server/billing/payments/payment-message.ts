// A report of a payment or refund (contract 7.142 to 7.145).
import { z } from 'zod';
import { instantSchema } from '../../basics/instant.ts';
import { isObject } from '../../basics/is-object.ts';
import { buildNameSchema } from '../../basics/names.ts';
import { currencySchema, foreignIdSchema, readMessage } from '../contracts/signup-message.ts';
import { maxAmount } from '../values/amounts.ts';
import type { Money } from './allocate.ts';
import { mostOfPayer, readPayerText } from './payer-text.ts';

export const paymentIdSchema = foreignIdSchema.describe('The provider’s own name for the payment or refund.');

/** For text that staff type. If it is too long, it is refused. The text of a payer is cut instead (`payerText`). */
const typedText = (most: number) => buildNameSchema(most, `Use no more than ${most} characters.`);

export const numberSchema = typedText(mostOfPayer.number);

export const methodSchema = typedText(mostOfPayer.method);

const payerText = (of: keyof typeof mostOfPayer, what: string) =>
  z
    .string()
    .transform((text) => readPayerText(text, mostOfPayer[of]))
    .nullish()
    .describe(`${what} What is longer than ${mostOfPayer[of]} characters is cut.`);

export const paymentSchema = z
  .object({
    payment_id: paymentIdSchema,
    kind: z.enum(['payment', 'refund'], 'Must be payment or refund.'),
    of: paymentIdSchema
      .nullish()
      .describe(
        'Of a refund: the payment that went back. Report the payment first: if we do not know it, this is 422.',
      ),
    invoice_number: payerText('number', 'What the payer named. A number that we do not know is no fault.'),
    amount: z.object({
      currency: currencySchema,
      unit_amount: z
        .int('Must be a whole number of minor units, such as 2900 for 29.00 EUR.')
        .min(1, 'Must be above 0.')
        .max(maxAmount, 'Must be at most 1000000000000.')
        .describe('In minor units: 2900 is 29.00 EUR.'),
    }),
    paid_at: instantSchema
      .refine((at) => at.getUTCFullYear() >= 2_000, 'Must not be before the year 2000.')
      .describe('When it was paid: at most 300 seconds ahead of our clock, and not before the year 2000.'),
    method: payerText('method', 'Such as `card` or `transfer`.'),
    reference: payerText('reference', 'What the payer wrote.'),
  })
  .refine(({ kind, of }) => kind !== 'refund' || (of ?? null) !== null, {
    path: ['of'],
    error: 'Required when kind is refund.',
    // This check runs even if there are other faults, so that one answer lists all faults.
    when: ({ value }) => isObject(value),
  })
  .refine(({ kind, of }) => kind !== 'payment' || (of ?? null) === null, {
    path: ['of'],
    error: 'Only a refund is of a payment.',
    when: ({ value }) => isObject(value),
  })
  .meta({
    if: { properties: { kind: { const: 'refund' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { of: { type: 'string' } }, required: ['of'] },
    else: { properties: { of: { type: 'null' } } },
  })
  .describe('A payment, or a refund of one. Unknown members are ignored.');

/** Throws 400 `malformed_json`, or 422 `validation_failed` with everything that is wrong. */
export function readPayment(body: Uint8Array, now: Date): Money {
  const { kind, of, amount, ...report } = readMessage(paymentSchema, body, 'paid_at', now);
  const facts = {
    id: report.payment_id,
    invoiceNumber: report.invoice_number ?? null,
    currency: amount.currency,
    amount: amount.unit_amount,
    paidAt: report.paid_at,
    method: report.method ?? null,
    reference: report.reference ?? null,
  };
  return kind === 'refund' ? { ...facts, kind, of: of as string } : { ...facts, kind, of: null };
}

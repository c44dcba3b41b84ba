// The answer to a report of a payment or refund (contract 7.146 and 7.147).
import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { DB } from '../../../db/schema.ts';
import { listAllocated } from '../../../db/tables/allocations.ts';
import { findInvoiceToPay } from '../../../db/tables/invoices.ts';
import type { Recorded } from './allocate.ts';
import { paymentIdSchema } from './payment-message.ts';

export const paymentAnswerSchema = z
  .object({
    payment_id: paymentIdSchema,
    applied: z.boolean().describe('Whether it was recorded now. If not, it was known already.'),
    allocated: z.int().describe('How much of it pays invoices, in minor units.'),
    unallocated: z
      .int()
      .describe(
        'How much of a payment is left. Of a refund it is negative: how much it exceeds what was left of its payment.',
      ),
    invoice: z
      .object({
        number: z.string(),
        status: z.enum(['open', 'paid', 'void']),
        open: z.int().describe('What is left to pay, in minor units.'),
      })
      .nullable()
      .describe('The invoice that it names. Null where it names none that we know.'),
  })
  .describe('What became of a payment or refund.');

export type PaymentAnswer = z.infer<typeof paymentAnswerSchema>;

export async function describeRecorded(
  trx: Transaction<DB>,
  { payment, applied }: Recorded,
): Promise<PaymentAnswer> {
  const [allocated, invoice] = await Promise.all([
    listAllocated(trx, { payment: payment.id }),
    payment.invoiceNumber === null ? undefined : findInvoiceToPay(trx, payment.invoiceNumber),
  ]);
  return {
    payment_id: payment.id,
    applied,
    allocated: allocated.reduce((sum, { amount }) => sum + amount, 0),
    unallocated: payment.unallocated,
    invoice: invoice ? { number: invoice.number, status: invoice.status, open: invoice.open } : null,
  };
}

// Lists invoices for payment providers page by page, in the order of their last changes (contract 7.520 to 7.523).
import { z } from 'zod';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import {
  findLastChange,
  findLastRestore,
  listChanged,
  numberChanges,
} from '../../../db/tables/invoice-changes.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { invalidParameter, type Visit } from '../../web/requests.ts';
import { currencySchema, signupIdSchema } from '../contracts/signup-message.ts';
import { findZone } from '../invoices/issue.ts';

const minor = (what: string) => z.int().describe(`${what}, in minor units: 3451 is 34.51 EUR.`);

export const changedInvoicesSchema = z
  .object({
    invoices: z.array(
      z.object({
        number: z.string(),
        status: z.enum(['open', 'paid', 'void']),
        currency: currencySchema,
        amount: minor('The total'),
        open: minor('What is left to pay'),
        due_on: z.iso.date().describe('The last day to pay.'),
        buyer: z.string().nullable().describe('The name on the invoice. Null once the account is erased.'),
        signup_id: signupIdSchema,
        account_id: z.uuid().nullable().describe('Of the buyer, as in the payload. Null once it is erased.'),
      }),
    ),
    next: z.string().describe('The next `after`. Keep it: later it lists what has changed since.'),
  })
  .describe('Invoices, in the order of their last changes.');

/**
 * `after` is the `next` of an earlier page. It contains the instant of the last restore, and the number of the last change on
 * that page.
 */
export async function readChangedInvoices(
  { db }: Pick<Dependencies, 'db'>,
  { after, limit, isOpen }: { after: string | undefined; limit: number; isOpen: boolean },
  { deadline }: Pick<Visit, 'deadline'>,
): Promise<z.infer<typeof changedInvoicesSchema>> {
  const [restored, changed] = await inTransaction(
    db,
    { by: 'payments' },
    async (trx) => {
      const restored = await findLastRestore(trx);
      const from = after === undefined ? 0 : readCursor(after, restored, await findLastChange(trx));
      await numberChanges(trx, limit);
      const rows = await listChanged(trx, { after: from, limit, isOpen, zone: await findZone(trx) });
      const reached = rows.length === limit ? rows.at(-1)?.change : await findLastChange(trx);
      return [restored, { rows, next: reached ?? from }] as const;
    },
    { deadline },
  );
  return {
    invoices: changed.rows.map(({ change: _, ...invoice }) => invoice),
    next: `${restored}-${changed.next}`,
  };
}

/** Refuses an `after` from before a restore, because its number may belong to another change now. */
function readCursor(after: string, restored: number, last: number): number {
  const [, of, change] = /^(\d{1,16})-(\d{1,15})$/.exec(after) ?? [];
  if (Number(of) !== restored || Number(change) > last)
    throw invalidParameter('after', 'It must be the next of an earlier page. Start again without it.');
  return Number(change);
}

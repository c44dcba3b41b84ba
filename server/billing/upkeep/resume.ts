// Resumes billing after a restore (contract 7.349 and 7.420 to 7.423). First, it issues lost invoices again from their copies
// in the archive. Each new invoice names the lost number that it replaces.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { isKnownPrefix } from '../../../db/tables/billing-settings.ts';
import { readClock } from '../../../db/tables/documents.ts';
import { findInvoiceToPay, type Invoice } from '../../../db/tables/invoices.ts';
import { findReplacing, lockLost } from '../../../db/tables/lost-documents.ts';
import { type Contract, findContract, lockContract } from '../../../db/tables/service-contracts.ts';
import type { PaymentTrail } from '../../acts/act.ts';
import { invalidMember } from '../../basics/errors.ts';
import { invoiceBegun } from '../invoices/invoicing.ts';
import { readDocumentNumber, resume } from '../invoices/pause.ts';
import { payWithWaiting } from '../payments/allocate.ts';

/** A lost invoice, read from its copy in the archive. `firstDay` is the first day of its period, such as 2026-11-26. */
export type ArchiveCopy = { number: string; signupId: string; firstDay: string };

/** `number` is the invoice that replaces `lost`. */
export type Replaced = { lost: string; number: string };

/**
 * Payments that name the lost numbers pay the new invoices. Returns undefined if billing was not waiting. If one of the copies
 * cannot be issued again, throws 422 `validation_failed` and does nothing.
 */
export async function resumeBilling(
  trx: Transaction<DB>,
  copies: ArchiveCopy[],
  trail: PaymentTrail,
): Promise<Replaced[] | undefined> {
  const now = await readClock(trx);
  if (!(await resume(trx, now, trail))) {
    for (const { number } of copies)
      if (!(await findReplacing(trx, number)))
        throw refuse(`Billing does not wait, and no invoice takes the place of ${number}.`);
    return undefined;
  }
  const numbers = copies.map(({ number }) => number);
  const twice = numbers.find((number, at) => numbers.indexOf(number) !== at);
  if (twice) throw refuse(`${twice} is given twice.`);
  const lost = await lockLost(trx, numbers);
  for (const number of numbers) {
    if (!lost.includes(number)) throw refuse(`${number} is not among the lost numbers.`);
    if (!(await isKnownPrefix(trx, readDocumentNumber(number)?.prefix ?? '', ['invoice'])))
      throw refuse(`${number} is no number of an invoice.`);
    const taken = await findReplacing(trx, number);
    if (taken) throw refuse(`${taken} takes the place of ${number} already.`);
  }
  const replacesOf = new Map<string, Map<string, string>>();
  for (const { number, signupId, firstDay } of copies) {
    const contract = await findContract(trx, { signupId });
    if (!contract)
      throw refuse(`The contract of signup ${signupId} is not here. Let the CRM send its signups again.`);
    const replaces = replacesOf.get(contract.id) ?? new Map<string, string>();
    const other = replaces.get(firstDay);
    if (other)
      throw refuse(
        `${other} and ${number} are both for signup ${signupId} and ${firstDay}. Give only the one that was not made void.`,
      );
    replacesOf.set(contract.id, replaces.set(firstDay, number));
  }
  // All code that locks several contracts uses this order.
  for (const [id, replaces] of [...replacesOf].sort(([one], [other]) => (one < other ? -1 : 1)))
    await invoiceBegun(trx, (await lockContract(trx, { id })) as Contract, { now, replaces });
  const invoices = new Map<string, Invoice>();
  for (const { number, signupId, firstDay } of copies) {
    const invoice = await findInvoiceToPay(trx, number);
    if (!invoice)
      throw refuse(
        `${number} has no invoice in its place: no period of signup ${signupId} that begins on ${firstDay} can be invoiced.`,
      );
    invoices.set(number, invoice);
  }
  await payWithWaiting(trx, invoices, { now, recordedBy: 'operator', trail });
  return [...invoices].map(([number, invoice]) => ({ lost: number, number: invoice.number }));
}

const refuse = (detail: string) => invalidMember('/lost', detail);

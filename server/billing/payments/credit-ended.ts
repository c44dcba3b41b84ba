// Credits periods that were invoiced before the CRM reported an earlier end of the contract (contract 7.528). If such an invoice
// is paid or credited, even in part, an administrator decides about it.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { findFacts } from '../../../db/tables/documents.ts';
import { findContractsToCredit } from '../../../db/tables/due-contracts.ts';
import { type Invoice, listUnsettledFrom } from '../../../db/tables/invoices.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { type Contract, findCreditFrom, setCreditFrom } from '../../../db/tables/service-contracts.ts';
import { type Billing, forEachContract } from '../invoices/invoicing.ts';
import { taxPrice } from '../values/amounts.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { creditInvoice } from './credit.ts';

/** Does nothing while billing waits after a restore. A later run then credits the invoices. */
export async function creditEnded(billing: Billing, signal?: AbortSignal): Promise<void> {
  if (!(await findBillingPause(billing.db)))
    await forEachContract(billing, signal, findContractsToCredit, creditPeriods);
}

async function creditPeriods(trx: Transaction<DB>, { id }: Contract, now: Date): Promise<boolean> {
  const from = await findCreditFrom(trx, id);
  if (!from) return false;
  for (const invoice of await listUnsettledFrom(trx, id, from)) {
    const amount = await sumOfPeriod(trx, invoice);
    if (amount > 0) await creditInvoice(trx, invoice.number, amount, { now, recordedBy: 'operator' });
  }
  await setCreditFrom(trx, id, null);
  return true;
}

/**
 * Returns what the period costs with tax. Other charges on its invoice are not part of the period, so they are not credited.
 */
async function sumOfPeriod(trx: Transaction<DB>, { number, unitAmount }: Invoice): Promise<number> {
  const facts = (await findFacts(trx, number)) as DocumentFacts | undefined;
  const charges = facts?.lines?.filter(({ charge }) => charge !== undefined) ?? [];
  if (!facts || charges.length === 0) return unitAmount;
  if (charges.length === facts.lines?.length) return 0;
  const kept = charges.reduce((sum, { amount }) => sum + amount, 0);
  return kept > 0 ? unitAmount - taxPrice(kept, facts.rate, facts.prices).total : unitAmount;
}

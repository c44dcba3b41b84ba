// Computes what a contract will be charged (contract 7.185 to 7.198), with the same functions that issue its invoices.
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { listOpenCharges, type OpenCharge } from '../../../db/tables/contract-charges.ts';
import { readClock } from '../../../db/tables/documents.ts';
import { type Contract, findContract } from '../../../db/tables/service-contracts.ts';
import { type Charge, listWaitingPeriods } from '../../../db/tables/waiting-periods.ts';
import { AppError } from '../../basics/errors.ts';
import { isPastLast, isRunning, presentStatus } from '../contracts/contract-states.ts';
import type { BillingSettings } from '../settings/settings.ts';
import { isMoment, planDocuments } from '../values/charges.ts';
import { dayIn } from '../values/days.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import { endOfPeriod, findPeriodsEnd, listPeriods } from '../values/periods.ts';
import { type Buyer, findBuyer } from './buyers.ts';
import { type BlockedCode, computeInvoice, findSettings } from './issue.ts';

/** A future document in the form that `--json` prints. Amounts are in minor units, and `rate` is in hundredths of a percent. */
export type Forecast = Pick<
  DocumentFacts,
  'issued_on' | 'currency' | 'net' | 'tax' | 'total' | 'category' | 'rate'
> & { period_first_day: string; period_last_day: string };

/** If the next period is blocked, `held` says why, and no documents follow. */
export type Preview = { documents: Forecast[]; held: BlockedCode | null };

/**
 * `waiting` has the periods that began and are not invoiced. `open` has the charges that are not fully invoiced. `buyer` is
 * undefined if the account is erased.
 */
export type Asked = {
  contract: Contract;
  waiting: Charge[];
  open: OpenCharge[];
  buyer: Pick<Buyer, 'taxed'> | undefined;
};

/** Assumes that everything is paid in time, and that contract, buyer and settings do not change. */
export function previewDocuments(
  settings: BillingSettings,
  { contract, waiting, open, buyer }: Asked,
  { now, months }: { now: Date; months: number },
): Preview {
  const documents: Forecast[] = [];
  const zone = settings.seller.time_zone;
  const until = addMonths(now, months);
  // `begun` has no charges that are due immediately, because `planDocuments` plans them for today.
  const begun = waiting.filter((period) => !isMoment(period));
  const periods = [...begun, ...listPeriods(contract, until, findPeriodsEnd(zone, contract)).charges];
  const { cancelsAt } = contract;
  const isEnding = isRunning(presentStatus(contract, now)) && isPastLast(contract, true);
  const endsAt = isEnding && cancelsAt && cancelsAt <= until ? cancelsAt : undefined;
  for (const { period: charge, lines, sum } of planDocuments({
    ...{ periods, open, contract, isLast: isPastLast(contract), now, endsAt },
  })) {
    if (sum === 0) continue;
    if (!buyer) return { documents, held: 'account_erased' };
    const drawn = computeInvoice(settings, charge, buyer, lines);
    if ('blocked' in drawn) return { documents, held: drawn.blocked };
    const { firstDay, lastDay, net, tax, total, category, rate } = drawn;
    documents.push({
      issued_on: dayIn(zone, charge.startsAt > now ? charge.startsAt : now),
      period_first_day: firstDay,
      period_last_day: lastDay,
      currency: charge.price.currency,
      ...{ net, tax, total, category, rate },
    });
  }
  return { documents, held: null };
}

/** If the resulting month is too short for the day, the result is the last day of that month. */
const addMonths = (from: Date, months: number): Date => {
  let at = from;
  for (let month = 0; month < months; month++) at = endOfPeriod(at, 'month', from.getUTCDate());
  return at;
};

/** Throws 404 `not_found`, or `not_configured` while there is no seller. */
export const readPreview = (db: Database, signupId: string, months: number): Promise<Preview> =>
  inTransaction(db, { by: 'service', cause: 'preview' }, async (trx) => {
    const contract = await findContract(trx, { signupId });
    const [settings, now] = [await findSettings(trx), await readClock(trx)];
    if (!contract) throw new AppError('not_found');
    if (!settings) throw new AppError('not_configured');
    const buyer = await findBuyer(trx, contract);
    const waiting = await listWaitingPeriods(trx, contract.id);
    const open = await listOpenCharges(trx, contract.id);
    return previewDocuments(settings.settings, { contract, waiting, open, buyer }, { now, months });
  });

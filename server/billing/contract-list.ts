// The list of all service contracts, in the order of arrival, page by page (contract section 7).
import { validate } from 'uuid';
import type { ContractSnapshot } from '../../db/events.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { hasArrivalNumber, listArrivals, numberArrivals } from '../../db/service-contracts.ts';
import { invalidParameter } from '../http/requests.ts';
import type { Services } from '../services.ts';
import { presentStatus } from './contract-states.ts';

/** `after` is the `next` of an earlier page. `next` is null where nothing comes after `after`. */
export async function readContractPage(
  { db, now }: Pick<Services, 'db' | 'now'>,
  page: { after: string | undefined; limit: number },
) {
  const contracts = await inTransaction(db, { by: 'crm' }, async (trx) => {
    // Before new numbers are given: after a restore of the database, an old cursor must not get a new place.
    if (page.after !== undefined && !(validate(page.after) && (await hasArrivalNumber(trx, page.after))))
      throw invalidParameter('after', 'It must be the next of an earlier page. Start again without it.');
    await numberArrivals(trx, page.limit);
    return listArrivals(trx, page);
  });
  return {
    contracts: contracts.map((contract) => describeContract(contract, now())),
    next: contracts.at(-1)?.id ?? null,
  };
}

/** As it is at `now`. */
export function describeContract(contract: ContractSnapshot, now: Date) {
  const { price } = contract;
  return {
    signup_id: contract.signupId,
    id: contract.id,
    user_id: contract.userId,
    status: presentStatus(contract, now),
    plan: contract.plan,
    trial_ends_at: contract.trialEndsAt?.toISOString() ?? null,
    price: price && { currency: price.currency, unit_amount: price.unitAmount, interval: price.interval },
    occurred_at: contract.occurredAt.toISOString(),
  };
}

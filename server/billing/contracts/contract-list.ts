// Lists all service contracts page by page, in the order of arrival (contract 7.34 to 7.38).
import { validate } from 'uuid';
import { z } from 'zod';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { ContractSnapshot } from '../../../db/tables/events.ts';
import { hasArrivalNumber, listArrivals, numberArrivals } from '../../../db/tables/service-contracts.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { userIdSchema, wireInstantSchema } from '../../sso/payload.ts';
import { invalidParameter } from '../../web/requests.ts';
import { presentStatus } from './contract-states.ts';
import { describePrice, planSchema, priceSchema, signupIdSchema } from './signup-message.ts';

export const contractStatusSchema = z
  .enum(['trialing', 'active', 'past_due', 'canceled', 'expired'])
  .describe('The present one, whatever was reported last.');

export const contractEntrySchema = z
  .object({
    signup_id: signupIdSchema,
    id: z.uuid(),
    user_id: userIdSchema,
    status: contractStatusSchema,
    plan: planSchema,
    trial_ends_at: wireInstantSchema.nullable(),
    cancels_at: wireInstantSchema
      .nullable()
      .describe(
        'When it ends, or has ended, if it was canceled here or by a report: mostly at the end of a period.',
      ),
    price: priceSchema.nullable(),
    occurred_at: wireInstantSchema.describe('Of the last report that was applied.'),
  })
  .describe('A service contract.');

export const contractPageSchema = z.object({
  contracts: z.array(contractEntrySchema).describe('In the order of arrival.'),
  next: z
    .uuid()
    .nullable()
    .describe('The next `after`. Null where nothing comes after yours: keep that one.'),
});

/** `after` is the `next` of an earlier page. `next` is null if no contract comes after `after`. */
export async function readContractPage(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  page: { after: string | undefined; limit: number },
): Promise<z.infer<typeof contractPageSchema>> {
  const contracts = await inTransaction(db, { by: 'crm' }, async (trx) => {
    // This check comes before `numberArrivals`. A restore may have removed the number of the contract that `after` names. If
    // `numberArrivals` ran first, it could give this contract a new number, and the check would accept `after`.
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

export function describeContract(contract: ContractSnapshot, now: Date): z.infer<typeof contractEntrySchema> {
  return {
    signup_id: contract.signupId,
    id: contract.id,
    user_id: contract.userId,
    status: presentStatus(contract, now),
    plan: contract.plan,
    trial_ends_at: contract.trialEndsAt?.toISOString() ?? null,
    cancels_at: contract.cancelsAt?.toISOString() ?? null,
    price: describePrice(contract.price),
    occurred_at: contract.occurredAt.toISOString(),
  };
}

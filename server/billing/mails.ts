// The mails of billing, as rows (contract 7.260): each is written once, by the transaction that it tells of.
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import { deferMail } from '../../db/tables/mails.ts';
import type { Contract } from '../../db/tables/service-contracts.ts';
import { findUserById } from '../../db/tables/users.ts';

type AboutContract = {
  kind: 'contract_cancel_asked' | 'contract_kept';
  contract: Pick<Contract, 'id' | 'userId'>;
  /** When it ends, or would have ended. */
  cancelsAt: Date;
  now: Date;
};

/** Whoever has the contract is told. Who cancels and keeps one again is told again, so `now` is in the key. */
export async function deferBillingMail(
  trx: Transaction<DB>,
  { kind, contract, cancelsAt, now }: AboutContract,
): Promise<void> {
  const user = await findUserById(trx, contract.userId);
  if (!user) return;
  deferMail(trx, {
    kind,
    key: `${kind}:${contract.id}:${cancelsAt.toISOString()}:${now.toISOString()}`,
    userId: user.id,
    recipient: user.email,
    details: { at: now.toISOString(), contract: contract.id, cancelsAt: cancelsAt.toISOString() },
    now,
  });
}

// Says what billing does if a person is erased or takes their account back. Billing ends contracts, or removes an address for
// invoices that a stranger may have given.
import { type Contract, listContractIds, lockContract } from '../../../db/tables/service-contracts.ts';
import type { EndsWithPerson } from '../../ground/dependencies.ts';
import { endContract } from '../invoices/invoicing.ts';
import { takeOutInvoiceEmail } from './invoice-email.ts';

export const endsWithPerson: EndsWithPerson = {
  takeOutInvoiceEmail,
  async endContracts(trx, accountId, now) {
    const contracts: (Contract | undefined)[] = [];
    for (const id of await listContractIds(trx, accountId)) contracts.push(await lockContract(trx, { id }));
    // All contracts are locked before `endContract` locks a series of document numbers. A transaction that waits for a contract
    // while it holds a series could cause a deadlock.
    let ended = 0;
    for (const contract of contracts) if (contract && (await endContract(trx, contract, now))) ended++;
    return ended;
  },
};

// GET /integrations/crm/contracts (contract 7.34 to 7.38): the CRM app reads all contracts.

import { readContractPage } from '../../billing/contracts/contract-list.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { respondJson } from '../../web/answers.ts';
import { readParameter, readQuery, readWhole, type Visit, type WholeRange } from '../../web/requests.ts';
import { requireTokenOwner } from './client-token.ts';

export const contractsLimit: WholeRange = { min: 1, max: 1_000, usual: 100 };

export async function crmContracts(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  const crm = deps.clients.get('crm_app');
  await requireTokenOwner(deps, request, crm ? [crm] : []);
  visit.client = 'crm_app';
  const params = readQuery(request);
  const after = readParameter(params, 'after');
  const limit = readWhole(params, 'limit', contractsLimit);
  return respondJson(await readContractPage(deps, { after, limit }));
}

// GET /integrations/crm/contracts (contract section 7): the CRM app reads all contracts.

import { readContractPage } from '../billing/contract-list.ts';
import { respond } from '../http/answers.ts';
import { requireClientToken } from '../http/client-token.ts';
import { invalidParameter, readParameter, readQuery, type Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';

export async function crmContracts(services: Services, request: Request, visit: Visit): Promise<Response> {
  await requireClientToken(request, services.config.clients.get('crm_app'));
  visit.client = 'crm_app';
  const params = readQuery(request);
  const after = readParameter(params, 'after');
  const limit = readLimit(readParameter(params, 'limit'));
  const page = await readContractPage(services, { after, limit });
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return respond(200, headers, JSON.stringify(page));
}

function readLimit(text = '100'): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > 1_000)
    throw invalidParameter('limit', 'It must be a whole number from 1 to 1000.');
  return limit;
}

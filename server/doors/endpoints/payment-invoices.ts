// GET /integrations/payments/invoices (contract 7.520 to 7.523): lists invoices for a payment provider. The provider signs the
// request like a report of a payment, but with an empty body.

import { AppError } from '../../basics/errors.ts';
import { readChangedInvoices } from '../../billing/payments/changed-invoices.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { paymentProvider } from '../../metrics/results.ts';
import { respondJson } from '../../web/answers.ts';
import {
  invalidParameter,
  readParameter,
  readQuery,
  readWhole,
  type Visit,
  type WholeRange,
} from '../../web/requests.ts';
import { requireWebhookSignature } from '../../web/webhook-signature.ts';

export const invoicesLimit: WholeRange = { min: 1, max: 1_000, usual: 100 };

export async function paymentInvoices(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  const { config, now, metrics } = deps;
  if (!config.paymentsSecrets) throw new AppError('not_configured');
  const { secret } = await requireWebhookSignature(request.headers, new Uint8Array(), {
    secrets: config.paymentsSecrets,
    now: now(),
  });
  metrics.countCall(paymentProvider, 'payment', secret);
  visit.client = paymentProvider;
  const params = readQuery(request);
  const state = readParameter(params, 'state');
  if (state !== undefined && state !== 'open')
    throw invalidParameter('state', 'It must be open, or left out.');
  const after = readParameter(params, 'after');
  const limit = readWhole(params, 'limit', invoicesLimit);
  return respondJson(await readChangedInvoices(deps, { after, limit, isOpen: state === 'open' }, visit));
}

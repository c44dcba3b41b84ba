// POST /integrations/crm/signups (contract 7.1 to 7.27): turns a signup message from the CRM into a customer with a contract,
// exactly once. Two layers ensure this: webhook.ts by the webhook-id, and `acceptSignup` by the signup_id.
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { readSignup } from '../../billing/contracts/signup-message.ts';
import { acceptSignup, describeOutcome } from '../../billing/customers/accept-signup.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { SignupResult } from '../../metrics/results.ts';
import type { Visit } from '../../web/requests.ts';
import { answerCounted, answerOnce, readWebhook, type WebhookAnswer } from './webhook.ts';

export const crmSignups = (deps: Dependencies, request: Request, visit: Visit): Promise<Response> =>
  answerCounted<SignupResult>(deps, visit, 'signup refused', deps.metrics.countSignup, () =>
    answer(deps, request, visit),
  );

async function answer(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<WebhookAnswer<SignupResult>> {
  const { config, now } = deps;
  const message = await readWebhook(request, visit, { secrets: config.crmSignupsSecrets, now });
  visit.client = 'crm_app';
  deps.metrics.countCall('crm_app', 'signup', message.secret);
  const signup = readSignup(message.body, now());
  const { webhookId } = message;
  return answerOnce(deps, { ...message, key: webhookId, by: 'crm' }, async (trx) => {
    const outcome = await acceptSignup(trx, config, signup, now(), visit.trace);
    deferAuditEvent(trx, {
      type: 'signup.accepted',
      reason: outcome.change,
      userId: outcome.contract.userId,
      address: visit.address,
      requestId: visit.requestId,
      details: { signupId: signup.signup_id, contractId: outcome.contract.id, webhookId },
    });
    return {
      status: outcome.change === 'created' ? 201 : 200,
      text: JSON.stringify(describeOutcome(outcome, now())),
      result: outcome.change,
    };
  });
}

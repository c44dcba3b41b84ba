// POST /integrations/crm/signups (contract 7.1 to 7.27): turns a signup message from the CRM into a customer with a
// contract, exactly once. Two layers make sure of it: this file by the webhook-id, `acceptSignup` by the signup_id.

import { constantTimeEqual } from 'oslo/crypto';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { deferAnswer, findAnswer, tryLockWebhookId } from '../../db/tables/webhook-requests.ts';
import { AppError } from '../basics/errors.ts';
import { acceptSignup, describeOutcome } from '../billing/accept-signup.ts';
import { readSignup, type Signup } from '../billing/signup-message.ts';
import { requireWebhookSignature } from '../billing/webhook-signature.ts';
import { respond, toAppError } from '../http/answers.ts';
import { readBody, type Visit } from '../http/requests.ts';
import { readHeader } from '../http/text.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import type { SignupResult } from '../metrics/results.ts';
import { sha256 } from '../runtime/hash.ts';

export async function crmSignups(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  try {
    const { response, result } = await answer(deps, request, visit);
    deps.metrics.countSignup(result);
    return response;
  } catch (error) {
    const refusal = toAppError(error);
    // Logged, not audited: strangers could fill the audit trail. The log's details hold no value of the body.
    const { code, detail, errors } = refusal;
    deps.metrics.countSignup(code);
    const { requestId, address } = visit;
    deps.log.record({ requestId, address, code, detail, errors }, 'signup refused');
    throw refusal;
  }
}

async function answer(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<{ response: Response; result: SignupResult }> {
  const { config, now } = deps;
  const secrets = config.crmSignupsSecrets;
  if (!secrets) throw new AppError('not_configured');
  requireJson(request);
  const body = await readBody(request, visit);
  const webhookId = await requireWebhookSignature(request.headers, body, { secrets, now: now() });
  visit.client = 'crm_app';
  const signup = readSignup(body, now());
  const message = { webhookId, bodyHash: sha256(body), signup, visit };

  const { status, text, result } = await answerOnce(deps, message);
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...(result === 'repeated' && { 'Idempotent-Replayed': 'true' }),
  };
  return { response: respond(status, headers, text), result };
}

function requireJson(request: Request): void {
  const type = readHeader(request.headers, 'content-type') ?? '';
  if (!/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type))
    throw new AppError('unsupported_media_type', { detail: 'The Content-Type must be application/json.' });
}

type Message = { webhookId: string; bodyHash: Uint8Array; signup: Signup; visit: Visit };
type Answer = { status: number; text: string; result: SignupResult };

/** Stores the work and its answer together, in one transaction, or neither. */
function answerOnce({ db, config, now }: Dependencies, message: Message): Promise<Answer> {
  const { webhookId, bodyHash, signup, visit } = message;
  return inTransaction(
    db,
    { by: 'crm', request: visit.requestId, cause: webhookId },
    async (trx) => {
      const [isAlone, given] = await Promise.all([
        tryLockWebhookId(trx, webhookId),
        findAnswer(trx, webhookId),
      ]);
      if (given) {
        if (!constantTimeEqual(given.bodyHash, bodyHash)) throw new AppError('idempotency_key_reused');
        return { status: given.status, text: given.answer, result: 'repeated' };
      }
      if (!isAlone) throw new AppError('request_in_progress', { headers: { 'Retry-After': '1' } });

      const outcome = await acceptSignup(trx, config, signup, now(), visit.trace);
      const status = outcome.change === 'created' ? 201 : 200;
      const text = JSON.stringify(describeOutcome(outcome, now()));
      deferAuditEvent(trx, {
        type: 'signup.accepted',
        reason: outcome.change,
        userId: outcome.contract.userId,
        address: visit.address,
        requestId: visit.requestId,
        details: { signupId: signup.signup_id, contractId: outcome.contract.id, webhookId },
      });
      deferAnswer(trx, { webhookId, bodyHash, status, answer: text, now: now() });
      return { status, text, result: outcome.change };
    },
    { commit: 'with_writes', deadline: visit.deadline },
  );
}

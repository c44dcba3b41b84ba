// POST /integrations/crm/signups (contract section 7): the CRM's signups become customers and contracts,
// exactly once, in two layers: the message (webhook-id) and the signup (signup_id).
import { constantTimeEqual } from 'oslo/crypto';
import { recordAuditEvent } from '../../db/audit-events.ts';
import { inTransaction } from '../../db/transactions.ts';
import { findAnswer, insertAnswer, tryLockWebhookId } from '../../db/webhook-requests.ts';
import type { Services } from '../backend.ts';
import { readSignup, type Signup } from '../billing/signup.ts';
import { acceptSignup, describeOutcome } from '../billing/signups.ts';
import { requireWebhookSignature } from '../billing/webhook-signature.ts';
import { AppError } from '../errors.ts';
import { readBody, requireMethod, respond, toAppError, type Visit } from '../http.ts';
import { sha256 } from '../runtime/hash.ts';

type Answer = { status: number; text: string; isReplay: boolean };

export async function crmSignups(services: Services, request: Request, visit: Visit): Promise<Response> {
  try {
    return await answer(services, request, visit);
  } catch (error) {
    const refusal = toAppError(error);
    // In the log and not in the audit trail, which strangers could fill. The details hold no value of the body.
    const { code, detail, errors } = refusal;
    services.log.info({ requestId: visit.requestId, code, detail, errors }, 'signup refused');
    throw refusal;
  }
}

async function answer(services: Services, request: Request, visit: Visit): Promise<Response> {
  const { config, now } = services;
  requireMethod(request, ['POST']);
  const secrets = config.crmSignupsSecrets;
  if (!secrets) throw new AppError('not_configured');
  if (!/^application\/json *(; *charset="?utf-8"? *)?$/i.test(request.headers.get('content-type') ?? '')) {
    throw new AppError('unsupported_media_type', { detail: 'The body must be application/json.' });
  }
  const body = await readBody(request);
  const webhookId = await requireWebhookSignature(request.headers, body, { secrets, now: now() });
  const signup = readSignup(body, now());
  const bodyHash = sha256(body);

  const { status, text, isReplay } = await answerOnce(services, { webhookId, bodyHash, signup, visit });
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...(isReplay && { 'Idempotent-Replayed': 'true' }),
  };
  return respond(status, headers, text);
}

/** Work and answer in one transaction: neither is ever there without the other. */
function answerOnce(
  { db, now }: Services,
  message: { webhookId: string; bodyHash: Uint8Array; signup: Signup; visit: Visit },
): Promise<Answer> {
  const { webhookId, bodyHash, signup, visit } = message;
  return inTransaction(db, async (trx) => {
    const [isAlone, given] = await Promise.all([
      tryLockWebhookId(trx, webhookId),
      findAnswer(trx, webhookId),
    ]);
    if (given) {
      if (!constantTimeEqual(given.bodyHash, bodyHash)) throw new AppError('idempotency_key_reused');
      return { status: given.status, text: given.answer, isReplay: true };
    }
    if (!isAlone) throw new AppError('request_in_progress', { headers: { 'Retry-After': '1' } });
    const outcome = await acceptSignup(trx, signup, now());
    const status = outcome.change === 'created' ? 201 : 200;
    const text = JSON.stringify(describeOutcome(outcome, now()));
    await recordAuditEvent(trx, {
      type: 'signup.accepted',
      reason: outcome.change,
      userId: outcome.contract.userId,
      address: visit.address,
      requestId: visit.requestId,
      details: { signupId: signup.signup_id, contractId: outcome.contract.id, webhookId },
    });
    await insertAnswer(trx, { webhookId, bodyHash, status, answer: text, now: now() });
    return { status, text, isReplay: false };
  });
}

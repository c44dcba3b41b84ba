// Handles signed webhooks. It reads a message only after it has verified the signature, and does the work for each webhook-id
// only one time (contract 7.17 to 7.22).
import type { Transaction } from 'kysely';
import { constantTimeEqual } from 'oslo/crypto';
import { inTransaction, type Origin } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { deferAnswer, findAnswer, tryLockWebhookId } from '../../../db/tables/webhook-requests.ts';
import { AppError } from '../../basics/errors.ts';
import { readHeader } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { sha256 } from '../../runtime/hash.ts';
import { respond, toAppError } from '../../web/answers.ts';
import { readBody, type Visit } from '../../web/requests.ts';
import { outOfDate, requireWebhookSignature } from '../../web/webhook-signature.ts';

/** `secret` is the index of the secret with which the message was signed. */
type WebhookMessage = { webhookId: string; body: Uint8Array; visit: Visit; secret: number };

/** Throws 404 `not_configured` if there are no secrets. Throws 401 `invalid_webhook_signature`, 413 and 415. */
export async function readWebhook(
  request: Request,
  visit: Visit,
  { secrets, now }: { secrets: readonly string[] | undefined; now: () => Date },
): Promise<WebhookMessage> {
  if (!secrets) throw new AppError('not_configured');
  const type = readHeader(request.headers, 'content-type') ?? '';
  if (!/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type))
    throw new AppError('unsupported_media_type', { detail: 'The Content-Type must be application/json.' });
  const body = await readBody(request, visit);
  const { id, secret } = await requireWebhookSignature(request.headers, body, { secrets, now: now() });
  return { webhookId: id, body, visit, secret };
}

export type WebhookAnswer<Result> = { status: number; text: string; result: Result | 'repeated' };

/**
 * Does the work and stores its answer, in one transaction. The answer is stored under `key`. Each endpoint has keys that no
 * other endpoint uses.
 */
export function answerOnce<Result>(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  { webhookId, body, visit, key, by }: WebhookMessage & { key: string; by: Origin['by'] },
  work: (trx: Transaction<DB>) => Promise<WebhookAnswer<Result>>,
): Promise<WebhookAnswer<Result>> {
  const bodyHash = sha256(body);
  return inTransaction(
    db,
    { by, request: visit.requestId, cause: webhookId },
    async (trx) => {
      const [isAlone, given] = await Promise.all([tryLockWebhookId(trx, key), findAnswer(trx, key)]);
      if (given) {
        if (!constantTimeEqual(given.bodyHash, bodyHash)) throw new AppError('idempotency_key_reused');
        return { status: given.status, text: given.answer, result: 'repeated' };
      }
      if (!isAlone) throw new AppError('request_in_progress', { headers: { 'Retry-After': '1' } });
      const answer = await work(trx);
      deferAnswer(trx, {
        ...{ webhookId: key, bodyHash, status: answer.status, answer: answer.text },
        now: now(),
      });
      return answer;
    },
    { commit: 'with_writes', deadline: visit.deadline },
  );
}

/** A refusal is logged but not audited, because strangers could fill the audit trail. The log line has nothing from the body. */
export async function answerCounted<Result>(
  { log }: Pick<Dependencies, 'log'>,
  { requestId, address }: Visit,
  refused: string,
  count: (result: Result | 'repeated' | AppError['code'] | typeof outOfDate) => void,
  answer: () => Promise<WebhookAnswer<Result>>,
): Promise<Response> {
  try {
    const { status, text, result } = await answer();
    count(result);
    return respond(
      status,
      {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        ...(result === 'repeated' && { 'Idempotent-Replayed': 'true' }),
      },
      text,
    );
  } catch (error) {
    const refusal = toAppError(error);
    const { code, detail, errors, reason } = refusal;
    count(reason === outOfDate ? outOfDate : code);
    log.record({ requestId, address, code, detail, errors }, refused);
    throw refusal;
  }
}

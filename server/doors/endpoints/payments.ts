// POST /integrations/payments (contract 7.140 to 7.148): records a payment or refund that a payment provider reports, exactly
// once. Two layers ensure this: webhook.ts by the webhook-id, and `recordMoney` by the payment_id.
import { encodeHex } from 'oslo/encoding';
import { recordMoney } from '../../billing/payments/allocate.ts';
import { describeRecorded } from '../../billing/payments/payment-answer.ts';
import { readPayment } from '../../billing/payments/payment-message.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { type PaymentResult, paymentProvider } from '../../metrics/results.ts';
import { sha256 } from '../../runtime/hash.ts';
import type { Visit } from '../../web/requests.ts';
import { answerCounted, answerOnce, readWebhook, type WebhookAnswer } from './webhook.ts';

export const payments = (deps: Dependencies, request: Request, visit: Visit): Promise<Response> =>
  answerCounted<PaymentResult>(deps, visit, 'payment refused', deps.metrics.countPayment, () =>
    answer(deps, request, visit),
  );

async function answer(
  deps: Dependencies,
  request: Request,
  visit: Visit,
): Promise<WebhookAnswer<PaymentResult>> {
  const { config, now } = deps;
  const message = await readWebhook(request, visit, { secrets: config.paymentsSecrets, now });
  deps.metrics.countCall(paymentProvider, 'payment', message.secret);
  const money = readPayment(message.body, now());
  const { webhookId } = message;
  // A signup never has this key: its key is the webhook-id, which has no colon.
  const key = `payments:${encodeHex(sha256(webhookId))}`;
  return answerOnce(deps, { ...message, key, by: 'payments' }, async (trx) => {
    const recorded = await recordMoney(trx, money, {
      now: now(),
      recordedBy: 'payments',
      trail: {
        address: visit.address,
        requestId: visit.requestId,
        details: { by: 'payments', webhookId },
      },
    });
    return {
      status: recorded.applied ? 201 : 200,
      text: JSON.stringify(await describeRecorded(trx, recorded)),
      result: recorded.applied ? 'recorded' : 'known',
    };
  });
}

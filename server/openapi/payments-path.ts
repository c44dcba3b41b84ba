// The path of reports of payments (contract 7.140 to 7.150).
import { answered, signedBodies, webhookHeaders } from './crm-paths.ts';
import type { Worked } from './examples.ts';
import { json, type PathItem, type Refuse } from './parts.ts';
import { schemaRef } from './schemas.ts';

export const paymentsPath = ({ payments, paymentAnswers }: Worked, refuse: Refuse): PathItem => ({
  post: {
    operationId: 'reportPayment',
    tags: ['Payments'],
    summary: 'Report a payment or a refund',
    description:
      'Each `payment_id` counts once, however often it is sent, and in whatever order a payment and its refunds arrive. Send a message again under the same `webhook-id` until it is answered with 200 or 201.',
    security: [{ paymentSignature: [] }],
    parameters: webhookHeaders(payments),
    requestBody: {
      description: 'Strict JSON in UTF-8: no name twice, at most 16 levels deep, at most 64 KiB.',
      required: true,
      content: json(schemaRef('Payment'), signedBodies(payments)),
    },
    responses: {
      200: {
        description: 'One that was known. What it comes to is as of now.',
        headers: answered,
        content: json(schemaRef('PaymentAnswer'), { known: paymentAnswers.known }),
      },
      201: {
        description: 'A new one.',
        headers: answered,
        content: json(schemaRef('PaymentAnswer'), {
          payment: paymentAnswers.payment,
          refund: paymentAnswers.refund,
        }),
      },
      ...refuse([
        'malformed_json',
        'invalid_webhook_signature',
        'not_configured',
        'request_in_progress',
        'unsupported_media_type',
        'validation_failed',
        'idempotency_key_reused',
      ]),
    },
  },
});

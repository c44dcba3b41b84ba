// Describes the paths for the CRM and for payment providers (contract sections 7 and 7a).
import { contractsLimit } from '../endpoints/crm-contracts.ts';
import { invoicesLimit } from '../endpoints/payment-invoices.ts';
import type { SignedExample, Worked } from './examples.ts';
import { json, noStore, type Parameter, type PathItem, type Refuse, text, toExamples } from './parts.ts';
import { type SchemaName, schemaRef, wholeSchema } from './schemas.ts';

const webhookForms: Record<string, [form: string, description: string]> = {
  'webhook-id': ['^[A-Za-z0-9_-]{1,255}$', 'Of this message. The same when it is sent again.'],
  'webhook-timestamp': ['^[0-9]{10}$', 'When it was signed, in Unix seconds. It counts for 300 seconds.'],
  'webhook-signature': [
    '^.+$',
    '`v1,` and the base64 of the signature; or several, with spaces between them.',
  ],
};

/** Describes the headers of Standard Webhooks, with examples by name. */
export const webhookHeaders = (examples: Record<string, SignedExample>): Parameter[] =>
  Object.entries(webhookForms).map(([name, [form, description]]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: text(form),
    examples: toExamples(
      Object.fromEntries(Object.entries(examples).map(([each, { headers }]) => [each, headers[name]])),
    ),
  }));

export const signedBodies = (examples: Record<string, SignedExample>) =>
  Object.fromEntries(Object.entries(examples).map(([name, { body }]) => [name, body]));

const answered = {
  ...noStore,
  'Idempotent-Replayed': {
    description: 'The same message was answered before: this is that answer.',
    schema: { const: 'true' },
  },
};

type Answered = [description: string, examples: Record<string, unknown>];

type Signed = {
  says: Record<'operationId' | 'summary' | 'description', string> & { tags: string[] };
  security: string;
  examples: Record<string, SignedExample>;
  schemas: [message: SchemaName, answer: SchemaName];
  known: Answered;
  fresh: Answered;
};

const buildSigned = (
  refuse: Refuse,
  { says, security, examples, schemas, known, fresh }: Signed,
): PathItem => {
  const [message, answer] = schemas;
  const answerWith = ([description, answers]: Answered) => ({
    description,
    headers: answered,
    content: json(schemaRef(answer), answers),
  });
  return {
    post: {
      ...says,
      security: [{ [security]: [] }],
      parameters: webhookHeaders(examples),
      requestBody: {
        description: 'Strict JSON in UTF-8: no name twice, at most 16 levels deep, at most 64 KiB.',
        required: true,
        content: json(schemaRef(message), signedBodies(examples)),
      },
      responses: {
        200: answerWith(known),
        201: answerWith(fresh),
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
  };
};

export const buildIntegrationPaths = (
  { signups, signupAnswers, contracts, payments, paymentAnswers, invoicesAsked, changedInvoices }: Worked,
  refuse: Refuse,
): Record<string, PathItem> => ({
  '/integrations/crm/signups': buildSigned(refuse, {
    says: {
      operationId: 'pushSignup',
      tags: ['CRM'],
      summary: 'Report a signup or trial, or a change of its contract',
      description:
        'Each signup makes at most one customer and one contract, however often it is sent. Send a message again under the same `webhook-id` until it is answered with 200 or 201.',
    },
    security: 'signupSignature',
    examples: signups,
    schemas: ['Signup', 'SignupAnswer'],
    known: ['A signup that was known.', { active: signupAnswers.active, older: signupAnswers.older }],
    fresh: ['A new signup.', { trial: signupAnswers.trial }],
  }),
  '/integrations/crm/contracts': {
    get: {
      operationId: 'listContracts',
      tags: ['CRM'],
      summary: 'Read all contracts',
      description: 'In the order of arrival, so that nothing is skipped or repeated while new ones come.',
      security: [{ eventsToken: [] }],
      parameters: [
        {
          name: 'after',
          in: 'query',
          description: 'The `next` of an earlier page. Any other is refused.',
          schema: { type: 'string', format: 'uuid' },
          examples: toExamples({ invalid_request: '0190f5a0-0000-7000-8000-0000000000ff' }),
        },
        {
          name: 'limit',
          in: 'query',
          description: 'How many contracts at most.',
          schema: wholeSchema(contractsLimit),
          examples: toExamples({ first_page: 100 }),
        },
      ],
      responses: {
        200: {
          description: 'A page of contracts.',
          headers: noStore,
          content: json(schemaRef('ContractPage'), { first_page: contracts }),
        },
        ...refuse(['invalid_token']),
      },
    },
  },
  '/integrations/payments': buildSigned(refuse, {
    says: {
      operationId: 'reportPayment',
      tags: ['Payments'],
      summary: 'Report a payment or a refund',
      description:
        'Each `payment_id` counts once, however often it is sent, and in whatever order a payment and its refunds arrive. Send a message again under the same `webhook-id` until it is answered with 200 or 201.',
    },
    security: 'paymentSignature',
    examples: payments,
    schemas: ['Payment', 'PaymentAnswer'],
    known: ['One that was known. What it comes to is as of now.', { known: paymentAnswers.known }],
    fresh: ['A new one.', { payment: paymentAnswers.payment, refund: paymentAnswers.refund }],
  }),
  '/integrations/payments/invoices': {
    get: {
      operationId: 'listInvoicesToPay',
      tags: ['Payments'],
      summary: 'Read invoices, and what has changed since',
      description:
        'In the order of their last changes: issued, paid, credited or refunded. Sign it as a report, with an empty body. Ask again with `next` until `next` stays the same.',
      security: [{ paymentSignature: [] }],
      parameters: [
        ...webhookHeaders({
          first_page: { body: {}, headers: invoicesAsked },
          invalid_request: { body: {}, headers: invoicesAsked },
        }),
        {
          name: 'state',
          in: 'query',
          description: 'Leaves out invoices that are paid or void now.',
          schema: { const: 'open' },
          examples: toExamples({ first_page: 'open' }),
        },
        {
          name: 'after',
          in: 'query',
          description: 'The `next` of an earlier page. Any other is refused.',
          schema: { type: 'string', pattern: '^[0-9]{1,6}-[0-9]{1,15}$' },
          examples: toExamples({ invalid_request: '99-1' }),
        },
        {
          name: 'limit',
          in: 'query',
          description: 'How many invoices at most.',
          schema: wholeSchema(invoicesLimit),
          examples: toExamples({ first_page: 100 }),
        },
      ],
      responses: {
        200: {
          description: 'A page of invoices.',
          headers: noStore,
          content: json(schemaRef('ChangedInvoices'), { first_page: changedInvoices }),
        },
        ...refuse(['invalid_webhook_signature', 'not_configured']),
      },
    },
  },
});

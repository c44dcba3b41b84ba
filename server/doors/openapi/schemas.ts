// Builds the schemas of the document from the schemas that check input and describe output.
import { z } from 'zod';
import { sections } from '../../../db/own-data.ts';
import { problemSchema } from '../../basics/errors.ts';
import { contractEntrySchema, contractPageSchema } from '../../billing/contracts/contract-list.ts';
import { signupSchema } from '../../billing/contracts/signup-message.ts';
import { signupAnswerSchema } from '../../billing/customers/accept-signup.ts';
import { changedInvoicesSchema } from '../../billing/payments/changed-invoices.ts';
import { paymentAnswerSchema } from '../../billing/payments/payment-answer.ts';
import { paymentSchema } from '../../billing/payments/payment-message.ts';
import { eventPageSchema, eventSchema } from '../../events/describe-event.ts';
import { nudgeSchema } from '../../events/nudges.ts';
import { marketplacePayloadSchema } from '../../marketplace/payload.ts';
import { payloadSchema, standardProfileSchema } from '../../sso/payload.ts';
import { healthSchema } from '../../web/answers.ts';
import type { WholeRange } from '../../web/requests.ts';

/** As much of JSON Schema 2020-12 as the document uses. */
export type JsonSchema = {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
  contentEncoding?: string;
  contentMediaType?: string;
  contentSchema?: JsonSchema;
};

const ours = {
  Payload: payloadSchema,
  Profile: standardProfileSchema,
  MarketplacePayload: marketplacePayloadSchema,
  Signup: signupSchema,
  SignupAnswer: signupAnswerSchema,
  Payment: paymentSchema,
  PaymentAnswer: paymentAnswerSchema,
  ChangedInvoices: changedInvoicesSchema,
  Contract: contractEntrySchema,
  ContractPage: contractPageSchema,
  Event: eventSchema,
  EventPage: eventPageSchema,
  Nudge: nudgeSchema,
  Problem: problemSchema,
  Health: healthSchema,
};

export type SchemaName = keyof typeof ours | 'OwnData';

const pathOf = (name: string) => `#/components/schemas/${name}`;

export const schemaRef = (name: SchemaName): JsonSchema => ({ $ref: pathOf(name) });

/** `io: 'input'` means the form that a sender writes. That form also fits the schemas of answers. */
export function buildSchemas(): Record<SchemaName, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(ours)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: pathOf });
  const plain = Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]);
  return { ...Object.fromEntries(plain), OwnData: buildOwnData() };
}

/** Builds the schema of the file with a person's own data, from the list that the file is made from. */
function buildOwnData(): JsonSchema {
  const lists = sections.map(({ name, columns }) => {
    const row = { type: 'object', properties: Object.fromEntries(columns.map((column) => [column, {}])) };
    return [name, { type: 'array', items: { ...row, required: columns } }];
  });
  const always = sections.filter(({ needsProof }) => !needsProof).map(({ name }) => name);
  return {
    type: 'object',
    description:
      'Everything kept about a person, without secrets. Contracts and invoices only once the address is proved.',
    properties: {
      service: { type: 'string', description: 'The base URL of this service.' },
      written_at: { type: 'string', format: 'date-time' },
      ...Object.fromEntries(lists),
    },
    required: ['service', 'written_at', ...always],
  };
}

/** Builds the schema of a parameter that `readWhole` reads. */
export const wholeSchema = ({ min, max, usual }: WholeRange): JsonSchema => ({
  type: 'integer',
  minimum: min,
  maximum: max,
  default: usual,
});

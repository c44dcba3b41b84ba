// Describes the parameters of a hand-off, to a client or from the marketplace (contract 3.19 to 3.21 and 6.1).
import { z } from 'zod';
import { maxPayloadLength } from '../../sso/envelope.ts';
import { payloadSchema } from '../../sso/payload.ts';
import type { Worked } from './examples.ts';
import { always, type Headers, noStore, type Parameter, text, toExamples } from './parts.ts';
import { type JsonSchema, schemaRef } from './schemas.ts';

export const hidden: Headers = { ...noStore, 'Referrer-Policy': always('no-referrer') };
export const prefetched = 'For `HEAD`, and where `Sec-Purpose` names `prefetch`: nothing is made or used up.';

export const member = (name: 'state' | 'return_to'): JsonSchema => {
  const { $schema, description, ...schema } = z.toJSONSchema(payloadSchema.shape[name]) as Record<
    string,
    unknown
  >;
  return schema;
};

export const clientParameter = (examples: Record<string, string>): Parameter => ({
  name: 'client',
  in: 'path',
  required: true,
  description: 'The name of your client, as the operator gave it to you.',
  schema: text(),
  examples: toExamples(examples),
});

export const returnTo: Parameter = {
  name: 'return_to',
  in: 'query',
  description: 'A path on your own site. Its length counts UTF-16 code units.',
  schema: member('return_to'),
};

export const handOffParameters = (
  of: 'Payload' | 'MarketplacePayload',
  examples: { payload: string; signature: string; name: string },
): Parameter[] => {
  const signature = text('^[0-9a-f]{64}$');
  return [
    {
      name: 'payload',
      in: 'query',
      description: 'JSON in UTF-8, as unpadded base64url in its canonical spelling.',
      schema: {
        type: 'string',
        pattern: '^[A-Za-z0-9_-]+$',
        maxLength: maxPayloadLength,
        contentEncoding: 'base64url',
        contentMediaType: 'application/json',
        contentSchema: schemaRef(of),
      },
      examples: toExamples({ [examples.name]: examples.payload }),
    },
    {
      name: 'signature',
      in: 'query',
      description: 'HMAC-SHA-256 over the characters of `payload`, with the secret as the key.',
      schema: signature,
      examples: toExamples({ [examples.name]: examples.signature }),
    },
    {
      name: 'signature_next',
      in: 'query',
      description: 'The same with the next secret, only during a rotation. One that verifies is enough.',
      schema: signature,
    },
  ];
};

export const arrivesAtCallback = ({ handOff, state }: Worked): Parameter[] => [
  ...handOffParameters('Payload', { ...handOff, name: 'hand_off' }),
  {
    name: 'error',
    in: 'query',
    description:
      'Only without a payload: why there is none. Only where the launch was asked with `prompt=none`.',
    schema: { type: 'string', enum: ['login_required', 'interaction_required', 'access_denied'] },
    examples: toExamples({ no_payload: 'login_required' }),
  },
  {
    name: 'state',
    in: 'query',
    description: 'Beside `error`. In a hand-off it is inside the payload.',
    schema: member('state'),
    examples: toExamples({ no_payload: state }),
  },
];

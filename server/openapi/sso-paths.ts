// The paths of the login and of what clients read of people (contract sections 4, 5, 6 and 10).

import { z } from 'zod';
import { maxAgeLimit } from '../endpoints/launch.ts';
import { eventsQuery } from '../endpoints/sso-events.ts';
import { AppError } from '../errors.ts';
import { maxPayloadLength } from '../sso/envelope.ts';
import { payloadSchema } from '../sso/payload.ts';
import type { Worked } from './examples.ts';
import {
  always,
  type Headers,
  json,
  location,
  noStore,
  type Operation,
  type Parameter,
  type PathItem,
  type Refuse,
  text,
  toExamples,
} from './parts.ts';
import { type JsonSchema, schemaRef, wholeSchema } from './schemas.ts';

const hidden: Headers = { ...noStore, 'Referrer-Policy': always('no-referrer') };
const prefetched = 'For `HEAD`, and where `Sec-Purpose` names `prefetch`: nothing is made or used up.';
const shopCallback = 'https://shop.example.com/sso/callback';

const member = (name: 'state' | 'return_to'): JsonSchema => {
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

const handOffParameters = (
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

const launch = ({ state, handOff }: Worked, refuse: Refuse): PathItem => {
  const silent = `${shopCallback}?${new URLSearchParams({ error: 'login_required', state })}`;
  const next = encodeURIComponent(`/sso/launch/shop?state=${state}`);
  const security: Operation['security'] = [{ session: [] }, {}];
  const common = { tags: ['Login'], security };
  const client = clientParameter({
    logged_in: 'shop',
    not_logged_in: 'shop',
    silent: 'shop',
    unknown_client: 'nobody',
  });
  return {
    get: {
      ...common,
      operationId: 'launch',
      summary: 'Send a browser to log in',
      description:
        'Redirect the browser here. It comes back to the callback that the operator configured, and nothing in the request can change that. A parameter that is given twice is refused.',
      parameters: [
        client,
        {
          name: 'state',
          in: 'query',
          description:
            'Comes back inside the payload. Make a new one for each attempt, and keep it in a cookie: it is how you know that this browser asked.',
          schema: member('state'),
          examples: toExamples({ logged_in: state, not_logged_in: state, silent: state }),
        },
        {
          ...returnTo,
          description: `${returnTo.description} Comes back inside the payload.`,
          examples: toExamples({ logged_in: '/orders' }),
        },
        {
          name: 'prompt',
          in: 'query',
          description: '`none` never shows a page. `login` asks for a credential again.',
          schema: { type: 'string', enum: ['none', 'login'] },
          examples: toExamples({ silent: 'none' }),
        },
        {
          name: 'max_age',
          in: 'query',
          description:
            'Seconds: asks for a credential again if the last one was given longer ago. Check `auth_time` in the payload.',
          schema: { type: 'integer', minimum: 0, maximum: maxAgeLimit },
        },
        {
          name: 'auth_after',
          in: 'query',
          description:
            'Unix seconds. This service sends it to itself, in place of `max_age` and `prompt=login`, while the person logs in.',
          schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
        },
      ],
      responses: {
        204: { description: prefetched, headers: hidden },
        303: {
          description:
            'To your callback with a hand-off, or with `error` and `state` where `prompt` is `none`. Or to a page here, which goes on with the launch: to log in, to verify the email address, to set up a second factor, or to cancel a planned deletion.',
          headers: {
            ...hidden,
            Location: location('Where the browser goes on.', {
              logged_in: `${shopCallback}?${new URLSearchParams(handOff)}`,
              not_logged_in: `/login?next=${next}`,
              silent,
            }),
          },
        },
        ...refuse(['unknown_client'], { headers: { 'Referrer-Policy': always('no-referrer') } }),
      },
    },
    head: {
      ...common,
      operationId: 'launchSpeculatively',
      summary: 'Look ahead at a launch',
      parameters: [clientParameter({})],
      responses: {
        204: { description: prefetched, headers: hidden },
        ...refuse([], { headers: { 'Referrer-Policy': always('no-referrer') } }),
      },
    },
  };
};

const profilePath = ({ profile }: Worked, refuse: Refuse): PathItem => ({
  get: {
    operationId: 'readProfile',
    tags: ['People'],
    summary: 'Read the profile of whoever is logged in',
    description:
      'For pages of this service, and for people who look. Clients get the profile with the hand-off and from the events. There are no CORS headers.',
    security: [{ session: [] }],
    parameters: [
      {
        name: 'If-None-Match',
        in: 'header',
        description: 'The `ETag` of an earlier answer.',
        schema: text(),
      },
    ],
    responses: {
      200: {
        description: 'The profile. Its address may be one that is not proved yet.',
        headers: { ...revalidated, ETag: { required: true, schema: text('^".+"$') } },
        content: json(schemaRef('Profile'), { profile }),
      },
      303: {
        description: 'For a browser: to set up a second factor first.',
        headers: { ...noStore, Location: location('A page here.') },
      },
      304: {
        description: 'It has not changed.',
        headers: { ...revalidated, ETag: { required: true, schema: text('^".+"$') } },
      },
      ...refuse(['login_required', 'second_factor_required']),
    },
  },
});

const revalidated: Headers = { 'Cache-Control': always('private, no-cache'), Vary: always('Cookie') };

const eventsPath = ({ events }: Worked, refuse: Refuse): PathItem => ({
  get: {
    operationId: 'pullEvents',
    tags: ['People'],
    summary: 'Read what has changed',
    description:
      'Events about the people who were handed to your client, in one sequence. The token alone says which client asks. Ask again with the number of the last event until a page is empty.',
    security: [{ eventsToken: [] }],
    parameters: [
      {
        name: 'after',
        in: 'query',
        description: 'The number of the last event that you have applied.',
        schema: wholeSchema(eventsQuery.after),
        examples: toExamples({ first_page: 0, events_gone: 1_000_000 }),
      },
      {
        name: 'limit',
        in: 'query',
        description: 'How many events at most.',
        schema: wholeSchema(eventsQuery.limit),
        examples: toExamples({ first_page: 100 }),
      },
      {
        name: 'wait',
        in: 'query',
        description: 'How many seconds to wait where there is no event yet.',
        schema: wholeSchema(eventsQuery.wait),
      },
    ],
    responses: {
      200: {
        description: 'A page of events.',
        headers: noStore,
        content: json(schemaRef('EventPage'), { first_page: events }),
      },
      ...refuse(['invalid_token', 'events_gone', 'rate_limited'], {
        examples: { events_gone: new AppError('events_gone', { oldest: 1 }) },
      }),
    },
  },
});

const marketplacePath = ({ inboundHandOff }: Worked, refuse: Refuse): PathItem => {
  const common = { tags: ['Migration'], security: [{ handOffSignature: [] }] };
  const parameters = handOffParameters('MarketplacePayload', { ...inboundHandOff, name: 'new_person' });
  const required = parameters.map((each) =>
    each.name === 'signature_next' ? each : { ...each, required: true },
  );
  return {
    get: {
      ...common,
      operationId: 'receiveMarketplaceHandOff',
      summary: 'The legacy marketplace hands a person over',
      description:
        'Signed with the secret of the marketplace; the form of `signature` and `payload` is that of a hand-off to a client. It counts once.',
      parameters: required,
      responses: {
        204: { description: prefetched, headers: hidden },
        303: {
          description:
            'To the page that the payload named, or the profile. Where this browser must be asked first, to `/continue`.',
          headers: {
            ...hidden,
            Location: location('A page here.', {
              new_person: '/continue?id=0190f5a0-0000-7000-8000-000000000009',
            }),
            'Set-Cookie': {
              description: 'Of a session that starts, or of a question that waits for its answer.',
              schema: text(),
            },
          },
        },
        ...refuse(
          [
            'malformed_payload',
            'invalid_signature',
            'payload_expired',
            'account_suspended',
            'admin_not_allowed',
            'not_configured',
            'nonce_replayed',
            'email_in_use',
          ],
          { headers: { 'Referrer-Policy': always('no-referrer') } },
        ),
      },
    },
    head: {
      ...common,
      operationId: 'receiveMarketplaceHandOffSpeculatively',
      summary: 'Look ahead at a hand-off',
      responses: {
        204: { description: prefetched, headers: hidden },
        ...refuse([], { headers: { 'Referrer-Policy': always('no-referrer') } }),
      },
    },
  };
};

export const buildSsoPaths = (worked: Worked, refuse: Refuse): Record<string, PathItem> => ({
  '/sso/launch/{client}': launch(worked, refuse),
  '/sso/profile': profilePath(worked, refuse),
  '/sso/events': eventsPath(worked, refuse),
  '/sso/marketplace/callback': marketplacePath(worked, refuse),
});

/** What arrives at a client's own callback, by a browser. */
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

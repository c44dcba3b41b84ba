// Describes what this service sends to a client: the browser with a hand-off, and nudges (contract 3.19 to 3.27 and 10.25 to
// 10.35).

import type { Worked } from './examples.ts';
import { arrivesAtCallback } from './hand-off-parameters.ts';
import { signedBodies, webhookHeaders } from './integration-paths.ts';
import { type Answer, json, noStore, type PathItem, text } from './parts.ts';
import { schemaRef } from './schemas.ts';

const refusal = (description: string): Answer => ({
  description,
  headers: {
    ...noStore,
    'Identity-Refusal': {
      description: 'The code of the refusal, as in our kits.',
      schema: text('^[a-z_]+$'),
    },
    'Identity-Launch': {
      description: 'The id of the launch, where it is known: it is in our log, too.',
      schema: text('^[0-9a-f]{4}-[0-9a-f]{4}$'),
    },
  },
  content: { 'text/html': { schema: text() } },
});

export const buildWebhooks = (worked: Worked): Record<string, PathItem> => ({
  handOff: {
    get: {
      operationId: 'takeHandOff',
      tags: ['Your client'],
      summary: 'A browser arrives at your callback',
      description:
        'With `payload` and `signature`, or with `error` and `state`. Check in the order of contract 3.22, use the nonce up, and start a session of your own. These answers are those of our kits.',
      security: [{ handOffSignature: [] }],
      parameters: arrivesAtCallback(worked),
      responses: {
        204: { description: 'For `HEAD`, and where `Sec-Purpose` names `prefetch`. Use nothing up.' },
        303: {
          description:
            'The person is logged in. Or the payload has no `state`: to your own login start, and the nonce stays unused.',
          headers: noStore,
        },
        400: refusal('It is not what this service sends.'),
        401: refusal('It is not genuine, or not valid now.'),
        403: refusal('It is genuine, and this browser or person is not let in by it.'),
        405: refusal('Another method.'),
        409: refusal('It was used before.'),
        503: refusal('A store of yours cannot be reached. Let nobody in.'),
      },
    },
  },
  nudge: {
    post: {
      operationId: 'takeNudge',
      tags: ['Your client'],
      summary: 'There are events to pull',
      description:
        'Posted to the address for events within two seconds, at most once a second, by Standard Webhooks. Only the status of the answer is read, and no redirect is followed. Without a 2xx within ten seconds it is tried again, for a day.',
      security: [{ nudgeSignature: [] }],
      parameters: webhookHeaders({ nudge: worked.nudge }),
      requestBody: {
        required: true,
        content: json(schemaRef('Nudge'), signedBodies({ nudge: worked.nudge })),
      },
      responses: { '2XX': { description: 'Taken.' }, default: { description: 'Tried again.' } },
    },
  },
});

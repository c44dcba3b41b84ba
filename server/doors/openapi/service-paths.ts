// Describes the paths for the service itself, for the browser's session and for one's own data (contract 2.90, 4.27, 9.136 and
// 9.143).

import { clientParameter, returnTo } from './hand-off-parameters.ts';
import {
  always,
  type Headers,
  ifNoneMatch,
  json,
  location,
  noStore,
  type PathItem,
  type Refuse,
  text,
  toExamples,
} from './parts.ts';
import { schemaRef } from './schemas.ts';

const logout = (refuse: Refuse): PathItem => ({
  get: {
    operationId: 'logout',
    tags: ['Login'],
    summary: 'Send a browser to log out',
    description: 'A page that asks. Following the link logs nobody out, only its button does.',
    security: [{ session: [] }, {}],
    parameters: [
      {
        ...clientParameter({ not_logged_in: 'shop', unknown_client: 'nobody' }),
        in: 'query',
        required: false,
        description: 'The name of your client: the browser then comes back to your site.',
      },
      {
        ...returnTo,
        description: `${returnTo.description} Where to come back to, \`/\` by default. Only with \`client\`.`,
        examples: toExamples({ not_logged_in: '/goodbye' }),
      },
    ],
    responses: {
      200: { description: 'The page.', headers: noStore, content: { 'text/html': { schema: text() } } },
      303: {
        description: 'Nobody is logged in here: straight back to your site.',
        headers: {
          ...noStore,
          Location: location('The path at the origin of your callback.', {
            not_logged_in: 'https://shop.example.com/goodbye',
          }),
        },
      },
      ...refuse(['unknown_client']),
    },
  },
});

const ownData = (refuse: Refuse): PathItem => ({
  get: {
    operationId: 'downloadOwnData',
    tags: ['People'],
    summary: 'Download everything kept about oneself',
    description: 'Five times an hour. For the page `/profile/data`, which leads here.',
    security: [{ session: [] }],
    responses: {
      200: {
        description: 'A file.',
        headers: {
          ...noStore,
          'Content-Disposition': always('attachment; filename="your-data.json"'),
        },
        content: json(schemaRef('OwnData')),
      },
      204: { description: 'Where `Sec-Purpose` names `prefetch`.', headers: noStore },
      303: {
        description:
          'Without a credential of the last ten minutes, or from another site: to the page. For a browser also to set up a second factor.',
        headers: { ...noStore, Location: location('A page here.') },
      },
      ...refuse(['second_factor_required', 'rate_limited']),
    },
  },
});

const health = (path: string, refuse: Refuse): PathItem => ({
  get: {
    operationId: path.slice(1),
    tags: ['Service'],
    summary: path === '/healthz' ? 'Whether the process runs' : 'Whether it can serve',
    description:
      path === '/healthz'
        ? 'Needs no database.'
        : 'Whether the database is reached, migrated and not read-only, and the process is not stopping.',
    security: [],
    responses: {
      200: {
        description: 'It does.',
        headers: noStore,
        content: json(schemaRef('Health'), { ok: { status: 'ok' } }),
      },
      ...refuse([]),
    },
  },
});

const shortlyCached: Headers = {
  'Cache-Control': { required: true, schema: text('^public, max-age=[0-9]+$') },
  ETag: { required: true, schema: text('^".+"$') },
};

const document = (refuse: Refuse): PathItem => ({
  get: {
    operationId: 'readOpenApi',
    tags: ['Service'],
    summary: 'This document',
    security: [],
    parameters: [ifNoneMatch],
    responses: {
      200: { description: 'In OpenAPI 3.1.', headers: shortlyCached, content: json({ type: 'object' }) },
      304: { description: 'It has not changed.', headers: shortlyCached },
      ...refuse([]),
    },
  },
});

const wellKnown = (refuse: Refuse): Record<string, PathItem> => ({
  '/.well-known/change-password': {
    get: {
      operationId: 'changePassword',
      tags: ['Service'],
      summary: 'Where a password is changed',
      description: 'For password managers.',
      security: [],
      responses: {
        303: {
          description: 'To the form.',
          headers: { Location: location('A page here.', { form: '/profile/security#password' }) },
        },
        ...refuse([]),
      },
    },
  },
  '/.well-known/passkey-endpoints': {
    get: {
      operationId: 'passkeyEndpoints',
      tags: ['Service'],
      summary: 'Where passkeys are added and managed',
      description: 'For password managers.',
      security: [],
      responses: {
        200: {
          description: 'The pages.',
          headers: noStore,
          content: json({
            type: 'object',
            required: ['enroll', 'manage'],
            properties: { enroll: text('^https?://'), manage: text('^https?://') },
          }),
        },
        ...refuse([]),
      },
    },
  },
  '/.well-known/security.txt': {
    get: {
      operationId: 'securityTxt',
      tags: ['Service'],
      summary: 'Where to report a weakness',
      description: 'After RFC 9116.',
      security: [],
      responses: {
        200: { description: 'The contact.', content: { 'text/plain': { schema: text('^Contact: .+') } } },
        ...refuse(['not_configured']),
      },
    },
  },
});

export const buildServicePaths = (refuse: Refuse): Record<string, PathItem> => ({
  '/logout': logout(refuse),
  '/profile/data.json': ownData(refuse),
  '/healthz': health('/healthz', refuse),
  '/readyz': health('/readyz', refuse),
  ...wellKnown(refuse),
  '/openapi.json': document(refuse),
});

// Describes what this service offers to programs, as a document in OpenAPI 3.1 (GET /openapi.json, and the page /developers/api).

import { shortDigest } from '../../runtime/hash.ts';
import { version } from '../../runtime/version.ts';
import type { Config } from '../../settings/config.ts';
import { buildExamples } from './examples.ts';
import { buildIntegrationPaths } from './integration-paths.ts';
import { launchPath } from './launch-path.ts';
import { marketplacePath } from './marketplace-path.ts';
import {
  type Answer,
  type Answers,
  buildRefuse,
  buildShared,
  type Header,
  type Operation,
  type PathItem,
} from './parts.ts';
import { eventsPath, profilePath } from './people-paths.ts';
import { buildSchemas, type JsonSchema } from './schemas.ts';
import { buildServicePaths } from './service-paths.ts';
import { buildWebhooks } from './webhooks.ts';

export type OpenApi = {
  openapi: '3.1.1';
  info: { title: string; version: string; summary: string; description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, Answer>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, { type: string; description: string; [member: string]: string }>;
  };
};

export type Published = { document: OpenApi; text: string; etag: string };

type Settings = Pick<Config, 'issuer' | 'baseUrl' | 'name'>;

/** Makes the document once, when it is first asked for. */
export function createPublished(config: Settings): () => Promise<Published> {
  let published: Promise<Published> | undefined;
  const publish = async () => {
    const document = await buildDocument(config);
    const text = JSON.stringify(document);
    return { document, text, etag: `"${shortDigest(text)}"` };
  };
  return () => {
    published ??= publish();
    return published;
  };
}

async function buildDocument({ issuer, baseUrl, name }: Settings): Promise<OpenApi> {
  const worked = await buildExamples({ issuer });
  const refuse = buildRefuse(baseUrl);
  const paths = {
    '/sso/launch/{client}': launchPath(worked, refuse),
    '/sso/profile': profilePath(worked, refuse),
    '/sso/events': eventsPath(worked, refuse),
    '/sso/marketplace/callback': marketplacePath(worked, refuse),
    ...buildIntegrationPaths(worked, refuse),
    ...buildServicePaths(refuse),
  };
  return {
    openapi: '3.1.1',
    info: {
      title: name,
      version,
      summary: 'One login and one profile for a group of products.',
      description: about,
    },
    servers: [{ url: baseUrl }],
    tags,
    paths: Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, withRequestId(item)])),
    webhooks: buildWebhooks(worked),
    components: {
      schemas: buildSchemas(),
      responses: Object.fromEntries(
        Object.entries(buildShared(baseUrl)).map(([code, answer]) => [code, addRequestId(answer)]),
      ),
      headers: { 'X-Request-Id': requestId },
      securitySchemes: describeSecurity(issuer),
    },
  };
}

const about = `A hand-off is a signed payload, so no library for OpenID Connect or SAML is needed, and none will connect.

A refusal is a problem document (RFC 9457) with a \`code\`; a browser (\`Accept: text/html\`) gets a page with the same status. Any other method of a path is 405 \`method_not_allowed\` with \`Allow\`. Requests whose line and headers are over 16 KiB are 431, and those that do not arrive within 15 seconds 408, without a body.

Every answer has the security headers of a page, and all but those of an overloaded service an \`X-Request-Id\`, which is in our log.

New members may be added to any answer. Ignore those that you do not know.`;

const tags = [
  { name: 'Login', description: 'Where a client sends browsers.' },
  { name: 'People', description: 'Profiles, and what has changed about them.' },
  { name: 'CRM', description: 'Signups and contracts.' },
  { name: 'Payments', description: 'What a payment provider reports.' },
  { name: 'Migration', description: 'What the legacy marketplace sends.' },
  { name: 'Service', description: 'About the service itself.' },
  { name: 'Your client', description: 'What this service sends to a client.' },
];

const requestId: Header = {
  description: 'Names the request in our log. Quote it to support.',
  schema: { type: 'string' },
};

const addRequestId = (answer: Answer): Answer => ({
  ...answer,
  headers: { ...answer.headers, 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
});

function withRequestId(item: PathItem): PathItem {
  const add = (responses: Answers): Answers =>
    Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => [
        status,
        '$ref' in answer ? answer : addRequestId(answer),
      ]),
    );
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]: [string, Operation]) => [
      method,
      { ...operation, responses: add(operation.responses) },
    ]),
  );
}

const describeSecurity = (issuer: string): OpenApi['components']['securitySchemes'] => ({
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: issuer.startsWith('https:') ? '__Host-identity_session' : 'identity_session',
    description: 'The session of a browser here. It never leaves this origin.',
  },
  eventsToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The 64 hex digits of HMAC-SHA-256 over `identity events v1 {client}`, with the secret of the client as the key. Contracts are read with that of `crm_app`.',
  },
  handOffSignature: {
    type: 'apiKey',
    in: 'query',
    name: 'signature',
    description:
      'HMAC-SHA-256 over the characters of `payload`, as 64 lower-case hex digits. The key is the secret as UTF-8.',
  },
  signupSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description:
      'Standard Webhooks 1.0, over `{webhook-id}.{webhook-timestamp}.{body}`, with the bytes of the secret behind `whsec_`.',
  },
  paymentSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description: 'As `signupSignature`, with the secret of payments.',
  },
  nudgeSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'webhook-signature',
    description:
      'Standard Webhooks 1.0. The key is HMAC-SHA-256 over `identity webhooks v1 {client}`, with the secret of the client as the key.',
  },
});

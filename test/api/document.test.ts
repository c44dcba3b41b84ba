// GET /openapi.json gives a valid document that agrees with the code.
import { Validator } from '@seriousme/openapi-schema-validator';
import { Webhook } from 'standardwebhooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { problems } from '../../server/basics/problems.ts';
import type { OpenApi } from '../../server/doors/openapi/document.ts';
import { exampleSecrets, exampleTime } from '../../server/doors/openapi/examples.ts';
import { buildNudgeSecret } from '../../server/events/nudge-secret.ts';
import { loadPages } from '../../server/instance/build.ts';
import { verifyEnvelope } from '../../server/sso/envelope.ts';
import { payloadSchema } from '../../server/sso/payload.ts';
import { openApp } from '../support/app/app.ts';
import {
  createChecker,
  findAnswer,
  listOperations,
  listOutcomes,
  readDocument,
} from '../support/app/openapi.ts';
import { readOurFile } from '../support/project/documents.ts';
import { shared } from '../support/run/shared.ts';

let document: OpenApi;
const app = shared(openApp);
beforeAll(async () => {
  document = await readDocument(app);
});

const validate = (which: OpenApi) => new Validator().validate({ ...structuredClone(which) });

const places = () => [...listOperations(document.paths), ...listOperations(document.webhooks)];

describe('the document', () => {
  it('is valid OpenAPI 3.1 (contract 9.143)', async () => {
    const { valid, errors } = await validate(document);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('is refused by that check where something in it is wrong', async () => {
    const wrong = structuredClone(document);
    Object.assign(wrong.paths['/sso/events']?.get ?? {}, { parameters: [{ name: 'after', in: 'nowhere' }] });
    expect((await validate(wrong)).valid).toBe(false);
  });

  it('has schemas that a strict reader of JSON Schema takes', () => {
    const { check } = createChecker(document);
    for (const [name, schema] of Object.entries(document.components.schemas))
      expect(check(schema, undefined), name).not.toEqual([]);
  });

  it('refers only to what is there', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref);
    expect(refs.length).toBeGreaterThan(50);
    const isThere = (ref: string) => {
      let at: unknown = document;
      for (const name of ref.replace(/^#\//, '').split('/')) at = (at as Record<string, unknown>)?.[name];
      return at !== undefined;
    };
    expect(refs.filter((ref) => !isThere(ref))).toEqual([]);
  });

  it('names each operation once, under a tag that it explains', () => {
    const names = places().map(({ operation }) => operation.operationId);
    expect(names).toEqual([...new Set(names)]);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of places()) for (const tag of operation.tags) expect(tags).toContain(tag);
    for (const tag of tags)
      expect(
        places().some(({ operation }) => operation.tags.includes(tag)),
        tag,
      ).toBe(true);
  });

  it('names only credentials that it explains, and all of them', () => {
    const named = places().flatMap(({ operation: { security = [] } }) =>
      security.flatMap((each) => Object.keys(each)),
    );
    expect([...new Set(named)].sort()).toEqual(Object.keys(document.components.securitySchemes).sort());
  });

  it('has the parts of each path as parameters', () => {
    for (const { path, operation } of listOperations(document.paths)) {
      const inPath = (operation.parameters ?? [])
        .filter((each) => each.in === 'path')
        .map(({ name }) => name);
      expect(inPath, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    }
  });

  it('has every refusal with the status of the one list', () => {
    for (const { operation } of listOperations(document.paths)) {
      for (const outcome of listOutcomes(document, operation)) {
        const [status, code] = outcome.split(' ');
        if (code) expect(problems[code as keyof typeof problems][0], outcome).toBe(Number(status));
      }
    }
    expect(document.components.schemas.Problem?.properties?.code?.enum).toEqual(Object.keys(problems));
  });
});

describe('an example', () => {
  it('is what its schema says', () => {
    const { check } = createChecker(document, { closed: true });
    let count = 0;
    for (const { path, operation } of places()) {
      const { parameters = [], requestBody, responses } = operation;
      const answers = Object.values(responses).map(findAnswer(document));
      const headers = answers.flatMap((answer) => Object.values(answer.headers ?? {}));
      const contents = [requestBody, ...answers].flatMap((one) => Object.values(one?.content ?? {}));
      for (const holder of [...parameters, ...contents, ...headers]) {
        if ('$ref' in holder) continue;
        for (const [name, { value }] of Object.entries(holder.examples ?? {})) {
          expect(check(holder.schema, value), `${path} ${name}`).toEqual([]);
          count++;
        }
      }
    }
    expect(count).toBeGreaterThan(60);
  });

  it('of a hand-off is genuine', async () => {
    const parameters = document.webhooks.handOff?.get?.parameters ?? [];
    const values = parameters.flatMap(({ name, examples }) =>
      examples?.hand_off ? [[name, String(examples.hand_off.value)]] : [],
    );
    const { claims } = await verifyEnvelope(new URLSearchParams(values), {
      secrets: [exampleSecrets.client],
      schema: payloadSchema,
      iss: app.config.issuer,
      aud: 'shop',
      ttlSeconds: 300,
      now: new Date(exampleTime * 1_000),
    });
    const { check } = createChecker(document, { closed: true });
    expect(check({ $ref: '#/components/schemas/Payload' }, claims)).toEqual([]);
    expect(Object.keys(claims).sort()).toEqual(Object.keys(payloadSchema.shape).sort());
  });

  it('of a nudge is genuine', async () => {
    const { parameters = [], requestBody } = document.webhooks.nudge?.post ?? {};
    const headers = Object.fromEntries(
      parameters.map(({ name, examples }) => [name, examples?.nudge?.value]),
    );
    const body = JSON.stringify(requestBody?.content['application/json']?.examples?.nudge?.value);
    const secret = await buildNudgeSecret('shop', exampleSecrets.client);
    const expected = new Webhook(secret).sign(
      String(headers['webhook-id']),
      new Date(exampleTime * 1_000),
      body,
    );
    expect(headers['webhook-signature']).toBe(expected);
  });
});

describe('a path of the document', () => {
  it('takes the methods that are described, and HEAD where it takes GET', async () => {
    for (const [path, item] of Object.entries(document.paths)) {
      const answer = await app.send(path.replace('{client}', 'marketplace'), { method: 'DELETE' });
      expect(answer.status, path).toBe(405);
      const allowed = answer.headers.get('allow')?.split(', ') ?? [];
      const described = Object.keys(item).map((method) => method.toUpperCase());
      // The document does not describe this POST, because only the logout page sends it.
      const more = path === '/logout' ? ['POST'] : [];
      const read = described.includes('GET') ? ['HEAD'] : [];
      expect(allowed.sort(), path).toEqual([...new Set([...described, ...read, ...more])].sort());
    }
  });

  it('is there for each route that is for programs', async () => {
    const { routes } = await loadPages();
    const ofPages: Record<string, string> = {
      '/admin/files/:file.csv': 'a download of pages',
      '/admin/billing/settings/sample.pdf': 'a download of pages',
      '/admin/invoices/:number.pdf': 'a download of pages',
      '/admin/invoices/:number.xml': 'a download of pages',
      '/brand/:file': 'files of pages',
      '/favicon.ico': 'a file of pages',
      '/robots.txt': 'for search engines',
      '/demo/:client/events': 'local mode only',
      '/demo/:client/login': 'local mode only',
      '/dev/mail/:id': 'local mode only',
      '/invoices/:number.pdf': 'a download of pages',
      '/invoices/:number.xml': 'a download of pages',
      '/passkeys/options': 'for the script of pages',
      '/.well-known/openid-configuration': 'describes itself',
      '/.well-known/oauth-authorization-server': 'describes itself',
      '/oauth/authorize': 'discovery describes it',
      '/oauth/jwks': 'discovery describes it',
      '/oauth/logout': 'discovery describes it',
      '/oauth/token': 'discovery describes it',
      '/oauth/userinfo': 'discovery describes it',
      '/': 'leads to a page',
      '/trpc/*': 'for pages, with types of its own',
    };
    const isFile = (path: string) => path.startsWith('/developers/');
    const paths = routes
      .filter(({ isPage, path }) => !isPage && !(path in ofPages) && !isFile(path))
      .map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'));
    const described = Object.keys(document.paths);
    expect(paths.filter((path) => !described.includes(path))).toEqual([]);
    const health = ['/healthz', '/readyz'];
    expect(described.filter((path) => ![...paths, ...health, '/logout'].includes(path))).toEqual([]);
  });
});

it('the callback is answered with the statuses that the kits have', () => {
  const refusals: { code: string; status: number }[] = JSON.parse(readOurFile('clients/refusals.json'));
  const statuses = refusals
    .filter(({ code }) => !code.startsWith('nudge_'))
    .map(({ status }) => String(status));
  const described = Object.keys(document.webhooks.handOff?.get?.responses ?? {});
  expect([...new Set([...statuses, '204'])].sort()).toEqual(described.sort());
});

describe('GET /openapi.json (contract 9.143)', () => {
  it('names this service, and is the same on every instance', async () => {
    const other = await app.startInstance();
    const [one, same] = await Promise.all([app.send('/openapi.json'), other.send('/openapi.json')]);
    expect(one.headers.get('content-type')).toBe('application/json');
    expect(document.servers).toEqual([{ url: app.config.baseUrl }]);
    expect(document.info.title).toBe('Identity');
    expect(same.text).toBe(one.text);
    expect(same.headers.get('etag')).toBe(one.headers.get('etag'));
    const named = await app.startInstance({ env: { IDENTITY_NAME: 'Château ID', PORT: '3100' } });
    const elsewhere = await named.send('/openapi.json');
    expect(JSON.parse(elsewhere.text)).toMatchObject({
      info: { title: 'Château ID' },
      servers: [{ url: 'http://localhost:3100' }],
    });
    expect(elsewhere.headers.get('etag')).not.toBe(one.headers.get('etag'));
  });

  it('may be kept for a few minutes, and is asked for again by its tag', async () => {
    const answer = await app.send('/openapi.json');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    const etag = answer.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{24}"$/);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await app.send('/openapi.json', { headers: { 'if-none-match': tag } });
      expect([again.status, again.text, again.headers.get('etag')], tag).toEqual([304, '', etag]);
    }
    const other = await app.send('/openapi.json', { headers: { 'if-none-match': '"x"' } });
    expect(other.status).toBe(200);
    const head = await app.send('/openapi.json', { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag]);
  });

  it('holds no secret and no client of this service', async () => {
    const env = { SSO_CLIENTS: 'hidden_shop', SSO_HIDDEN_SHOP_SECRET: 'a-secret-of-the-hidden-shop-0123456' };
    const { send, config } = await app.startInstance({
      env: { ...env, SSO_HIDDEN_SHOP_CALLBACK_URL: 'http://localhost:9/cb' },
    });
    const { text } = await send('/openapi.json');
    const secrets = [...config.clients.values()].flatMap((client) => [...client.secrets]);
    for (const hidden of ['hidden_shop', ...secrets, ...(config.crmSignupsSecrets ?? [])])
      expect(text).not.toContain(hidden);
  });
});

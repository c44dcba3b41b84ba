// Checks the service's answers against the OpenAPI document: each operation, with each status and code that the document names.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OpenApi } from '../../server/doors/openapi/document.ts';
import {
  type Answer,
  locationOf,
  openApp,
  type SendOptions,
  type TestApp,
  type TestInstance,
} from '../support/app/app.ts';
import {
  type Checker,
  createChecker,
  findFaults,
  listOperations,
  listOutcomes,
  outcomeOf,
  readDocument,
  readPlain,
} from '../support/app/openapi.ts';
import { production } from '../support/app/settings.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { buildPayment } from '../support/billing/money.ts';
import { buildSignup, signMessage } from '../support/crm/crm.ts';
import { openWire, type Wire } from '../support/database/wire.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { addPerson, addVisitor, bearerOf, openSession } from '../support/events/events.ts';
import { openTarget, takes } from '../support/events/nudge-target.ts';
import { buildHandOff, type HandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

let app: TestApp;
/** A production service with as few settings as possible. */
let bare: TestApp;
let broken: TestApp;
let away: TestInstance;
let wire: Wire;
let document: OpenApi;
let checker: Checker;
/** For each service, the session cookie of a user who is logged in there. */
const cookies = new Map<TestApp | TestInstance, string>();

const target = shared(() => openTarget(takes));
beforeAll(async () => {
  const env = {
    SSO_CLIENTS: 'shop,desk',
    SSO_DESK_ROLES: 'admin',
    SSO_SHOP_CALLBACK_URL: 'http://localhost:4000/sso/callback',
    SSO_SHOP_EVENTS_URL: target.url,
    IDENTITY_ADMIN_SECOND_FACTOR: 'required',
    IDENTITY_SECURITY_CONTACT: 'mailto:security@example.test',
  };
  const without = {
    CRM_SIGNUPS_SECRET: undefined,
    PAYMENTS_SECRET: undefined,
    MARKETPLACE_SSO_SECRET: undefined,
    MARKETPLACE_SSO_ISSUER: undefined,
  };
  [app, bare, broken] = await Promise.all([
    openApp({ env }),
    openApp({ env: { ...production, ...without } }),
    openApp({ env }),
  ]);
  wire = await openWire(app.databaseUrl);
  away = await app.startInstance({ databaseUrl: wire.url });
  document = await readDocument(app);
  checker = createChecker(document, { closed: true });
  cookies.set(app, await app.login('customer@example.test'));
  cookies.set(away, cookies.get(app) ?? '');
  cookies.set(broken, await broken.login('customer@example.test'));
  for (const table of ['sessions', 'nonces', 'events', 'webhook_requests', 'service_contracts'])
    await sql`alter table ${sql.table(table)} rename to ${sql.table(`${table}_gone`)}`.execute(broken.db);
  wire.cut();
});
afterAll(async () => {
  wire.close();
  await Promise.all([app.close(), bare.close(), broken.close()]);
});

const seen = new Map<string, Set<string>>();

const operationOf = (operationId: string) => {
  const place = listOperations(document.paths).find(({ operation }) => operation.operationId === operationId);
  if (!place) throw new Error(`no operation ${operationId}`);
  return place;
};

/** Expects `outcome`, and an answer that fits the document's description of the operation. */
function expectAs(operationId: string, outcome: string, answer: Answer): void {
  expect(outcomeOf(answer), answer.text).toBe(outcome);
  expect(findFaults(document, checker, operationOf(operationId).operation, answer), operationId).toEqual([]);
  const outcomes = seen.get(operationId) ?? new Set();
  seen.set(operationId, outcomes.add(outcome));
}

const cookieAt = (at: TestApp | TestInstance) => ({ cookie: cookies.get(at) ?? '' });
const chunked: SendOptions = { headers: { 'transfer-encoding': 'chunked' } };
const large: SendOptions = { headers: { 'content-length': '70000' } };
const prefetch = { 'sec-purpose': 'prefetch' };

type Asked = [path: string, options?: SendOptions];

/** For each operation, a request that the service accepts. */
const right: Record<string, (at: TestApp | TestInstance) => Promise<Asked>> = {
  launch: async (at) => ['/sso/launch/shop?state=s&return_to=/orders', cookieAt(at)],
  launchSpeculatively: async (at) => ['/sso/launch/shop', { method: 'HEAD', ...cookieAt(at) }],
  readProfile: async (at) => ['/sso/profile', cookieAt(at)],
  pullEvents: async (at) => ['/sso/events?after=0', { headers: bearerOf(at, 'shop') }],
  receiveMarketplaceHandOff: async () => [await handOffOf({ id: crypto.randomUUID() })],
  receiveMarketplaceHandOffSpeculatively: async () => ['/sso/marketplace/callback', { method: 'HEAD' }],
  pushSignup: async () => signedSignup(JSON.stringify(buildSignup(crypto.randomUUID()))),
  reportPayment: async () => signedReport(JSON.stringify(buildPayment(100))),
  listInvoicesToPay: async () => ['/integrations/payments/invoices?state=open', signedEmpty()],
  listContracts: async (at) => ['/integrations/crm/contracts', { headers: bearerOf(at, 'crm_app') }],
  logout: async (at) => ['/logout?client=shop', cookieAt(at)],
  downloadOwnData: async (at) => ['/profile/data.json', cookieAt(at)],
  healthz: async () => ['/healthz'],
  readyz: async () => ['/readyz'],
  changePassword: async () => ['/.well-known/change-password'],
  passkeyEndpoints: async () => ['/.well-known/passkey-endpoints'],
  securityTxt: async () => ['/.well-known/security.txt'],
  readOpenApi: async () => ['/openapi.json'],
};

const handOffOf = (user: HandOff, issuedAt?: Date) => buildHandOff(app, user, issuedAt);

function signedSignup(
  body: string,
  options: { webhookId?: string; headers?: Record<string, string> } = {},
): Asked {
  const headers = signMessage(app.config.crmSignupsSecrets?.[0] ?? '', body, options);
  return ['/integrations/crm/signups', { method: 'POST', body, headers: { ...headers, ...options.headers } }];
}

function signedReport(
  body: string,
  options: { webhookId?: string; headers?: Record<string, string> } = {},
): Asked {
  const headers = signMessage(app.config.paymentsSecrets?.[0] ?? '', body, options);
  return ['/integrations/payments', { method: 'POST', body, headers: { ...headers, ...options.headers } }];
}

const signedEmpty = () => ({ headers: signMessage(app.config.paymentsSecrets?.[0] ?? '', '') });

async function ask(
  operationId: string,
  at: TestApp | TestInstance = app,
  more: SendOptions = {},
): Promise<Answer> {
  const [path, options = {}] = (await right[operationId]?.(at)) ?? [''];
  return at.send(path, { ...options, ...more, headers: { ...options.headers, ...more.headers } });
}

const everyOperation = Object.keys(right);
const rightOutcomes: Record<string, string> = {
  ...Object.fromEntries(everyOperation.map((operationId) => [operationId, '200'])),
  ...{
    launch: '303',
    receiveMarketplaceHandOff: '303',
    changePassword: '303',
    pushSignup: '201',
    reportPayment: '201',
  },
  ...{ launchSpeculatively: '204', receiveMarketplaceHandOffSpeculatively: '204' },
};

describe('each operation is answered as the document says', () => {
  it('if the request is right', async () => {
    for (const operationId of everyOperation)
      expectAs(operationId, rightOutcomes[operationId] ?? '', await ask(operationId));
  });

  it('if it has a body that it must not have', async () => {
    for (const operationId of everyOperation) {
      if (operationId === 'pushSignup' || operationId === 'reportPayment') continue;
      const code = (status: string) =>
        (operationId.endsWith('Speculatively') ? status.split(' ')[0] : status) ?? '';
      const { method = 'GET' } = (await right[operationId]?.(app))?.[1] ?? {};
      expectSame(
        operationId,
        code('400 invalid_request'),
        await ask(operationId, app, { method, ...chunked }),
      );
      expectSame(operationId, code('413 body_too_large'), await ask(operationId, app, { method, ...large }));
    }
  });

  it('if the database is away', async () => {
    for (const operationId of everyOperation) {
      const answer = await ask(operationId, away);
      if (needNoData.has(operationId)) expectAs(operationId, rightOutcomes[operationId] ?? '', answer);
      else expectAs(operationId, '503 unavailable', answer);
    }
  });

  it('if something of ours is broken', async () => {
    for (const operationId of everyOperation) {
      if (needNoData.has(operationId) || operationId === 'readyz') continue;
      expectAs(operationId, '500 internal_error', await ask(operationId, broken));
    }
  });
});

/** Compares only the status if the request was a HEAD: its answer has no body, and therefore no code. */
function expectSame(operationId: string, outcome: string, answer: Answer): void {
  if (operationId.endsWith('Speculatively')) expect(String(answer.status)).toBe(outcome);
  else expectAs(operationId, outcome, answer);
}

const needNoData = new Set([
  'launchSpeculatively',
  'receiveMarketplaceHandOffSpeculatively',
  'healthz',
  'changePassword',
  'passkeyEndpoints',
  'securityTxt',
  'readOpenApi',
]);

describe('the login', () => {
  it('gets the documented answer at the launch', async () => {
    const launch = async (query: string, outcome: string, options: SendOptions = {}) =>
      expectAs('launch', outcome, await app.send(`/sso/launch/${query}`, options));
    await launch('shop?state=s', '303');
    await launch('shop?prompt=none', '303');
    await launch('shop?state=%20', '400 invalid_request');
    await launch('desk', '403 client_not_allowed', cookieAt(app));
    await launch('nobody', '404 unknown_client');
    await launch('shop', '204', { headers: prefetch });
  });

  it('gets the documented answer at the logout', async () => {
    expectAs('logout', '303', await app.send('/logout?client=shop'));
    expectAs('logout', '303', await app.send('/logout'));
    const cookie = await app.login('customer@example.test');
    expectAs('logout', '200', await app.send('/logout', { cookie }));
    expectAs('logout', '404 unknown_client', await app.send('/logout?client=nobody'));
    expectAs('logout', '400 invalid_request', await app.send('/logout?return_to=/x'));
  });
});

describe('data about people', () => {
  it('gets the documented answer at the profile', async () => {
    const first = await ask('readProfile');
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    expectAs('readProfile', '304', await ask('readProfile', app, { headers }));
    expectAs('readProfile', '401 login_required', await app.send('/sso/profile'));
    const cookie = await app.login('admin@example.test');
    const asAdmin = (path: string, accept: string) => app.send(path, { cookie, headers: { accept } });
    expectAs('readProfile', '403 second_factor_required', await asAdmin('/sso/profile', '*/*'));
    expectAs('readProfile', '303', await asAdmin('/sso/profile', 'text/html'));
    expectAs('downloadOwnData', '403 second_factor_required', await asAdmin('/profile/data.json', '*/*'));
    expectAs('downloadOwnData', '303', await asAdmin('/profile/data.json', 'text/html'));
  });

  it('gets the documented answer at the download', async () => {
    const cookie = await app.login('merchant@example.test');
    const download = (headers: Record<string, string> = {}) =>
      app.send('/profile/data.json', { cookie, headers });
    expectAs('downloadOwnData', '204', await download(prefetch));
    expectAs('downloadOwnData', '303', await download({ 'sec-fetch-site': 'cross-site' }));
    for (let times = 0; times < 5; times++) expectAs('downloadOwnData', '200', await download());
    expectAs('downloadOwnData', '429 rate_limited', await download());
  });

  it('is in events of every kind as documented (contract 10.7)', async () => {
    const visitor = await addVisitor(app, 'shop', 'crm_app');
    await app.send('/logout', { method: 'POST', cookie: visitor.cookie });
    await sql`update users set suspended_at = now() where id = ${visitor.id}`.execute(app.db);
    await sql`update users set suspended_at = null where id = ${visitor.id}`.execute(app.db);
    const signup = buildSignup(crypto.randomUUID(), { user: { email: visitor.email, name: 'Visitor' } });
    expect((await app.send(...signedSignup(JSON.stringify(signup)))).status).toBe(201);
    const leaver = await addVisitor(app, 'shop');
    await sql`delete from users where id = ${leaver.id}`.execute(app.db);
    const types = new Set<string>();
    for (const client of ['shop', 'crm_app']) {
      const answer = await app.send('/sso/events?after=0&limit=1000', { headers: bearerOf(app, client) });
      expectAs('pullEvents', '200', answer);
      for (const { type } of JSON.parse(answer.text).events) types.add(type);
    }
    const variants =
      document.components.schemas.Event?.oneOf ?? document.components.schemas.Event?.anyOf ?? [];
    const described = variants.flatMap(({ properties: { type } = {} }) => type?.enum ?? [type?.const]);
    expect([...types].sort()).toEqual(described.sort());
  });

  it('gets the documented refusal', async () => {
    const headers = bearerOf(app, 'shop');
    const pull = (query: string, more: SendOptions = { headers }) => app.send(`/sso/events${query}`, more);
    expectAs('pullEvents', '400 invalid_request', await pull('?limit=0'));
    expectAs('pullEvents', '401 invalid_token', await pull('', {}));
    expectAs('pullEvents', '410 events_gone', await pull('?after=1000000'));
    const full = await app.startInstance();
    const waiting: Promise<unknown>[] = [];
    const refused: Answer[] = [];
    // Starts the requests one by one. If all started at the same time, this machine would be too busy, and the service would
    // refuse some of them for that reason, not because the client has too many.
    while (refused.length === 0 && waiting.length < 150) {
      const answer = full.send('/sso/events?wait=20', { headers: bearerOf(app, 'network_site') });
      waiting.push(answer.then((each) => each.status === 429 && refused.push(each)));
      await new Promise((done) => setTimeout(done, 15));
    }
    full.drain();
    await Promise.all(waiting);
    const [first] = refused;
    if (!first) throw new Error(`none of ${waiting.length} requests that wait was refused`);
    expectAs('pullEvents', '429 rate_limited', first);
  });
});

describe('what the marketplace sends', () => {
  const receive = async (outcome: string, path: string, options: SendOptions = {}) =>
    expectAs('receiveMarketplaceHandOff', outcome, await app.send(path, options));

  it('gets the documented answer', async () => {
    await receive('204', await handOffOf({ id: 'ahead' }), { headers: prefetch });
    const browser = openBrowser(app.send);
    const path = await handOffOf({ id: 'mia' });
    expectAs('receiveMarketplaceHandOff', '303', await browser.send(path));
    // The answer redirects to a page with a question. Sending the form of that page starts a session.
    const page = locationOf(await browser.send(path));
    expect((await browser.send(page.pathname + page.search, { form: {} })).status).toBe(303);
    browser.jar.delete('identity_session');
    expectAs('receiveMarketplaceHandOff', '303', await browser.send(await handOffOf({ id: 'mia' })));
    await receive('409 nonce_replayed', path);
  });

  it('gets the documented refusal', async () => {
    const path = await handOffOf({ id: 'refused' });
    await receive('400 invalid_request', '/sso/marketplace/callback');
    await receive('400 malformed_payload', path.replace('payload=', 'payload=.'));
    await receive('401 invalid_signature', path.replace(/signature=.{64}/, `signature=${'0'.repeat(64)}`));
    await receive('401 payload_expired', await handOffOf({ id: 'late' }, new Date(Date.now() - 3_600_000)));
    await receive('403 account_suspended', await handOffOf({ id: 's', email: 'suspended@example.test' }));
    await receive('403 admin_not_allowed', await handOffOf({ id: 'a', email: 'admin@example.test' }));
    await app.send(await handOffOf({ id: 'one', email: 'shared@example.test' }));
    await receive('409 email_in_use', await handOffOf({ id: 'two', email: 'shared@example.test' }));
    expectAs('receiveMarketplaceHandOff', '404 not_configured', await bare.send(path));
  });
});

describe('what the CRM sends', () => {
  const send = (request: Asked, at: Pick<TestApp, 'send'> = app) => at.send(...request);

  it('gets the documented answer', async () => {
    const signup = buildSignup('crm_seen', {}, new Date(Date.now() - 1_000));
    const first = signedSignup(JSON.stringify(signup), { webhookId: 'seen_1' });
    expectAs('pushSignup', '201', await send(first));
    const again = await send(first);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expectAs('pushSignup', '201', again);
    const { contract } = signup;
    const later = {
      ...signup,
      occurred_at: new Date().toISOString(),
      contract: { ...contract, status: 'active' },
    };
    expectAs('pushSignup', '200', await send(signedSignup(JSON.stringify(later))));
  });

  it('gets the documented refusal', async () => {
    const body = JSON.stringify(buildSignup('crm_refused'));
    expectAs('pushSignup', '400 malformed_json', await send(signedSignup('{')));
    const unsigned = signedSignup(body, { headers: { 'webhook-signature': 'v1,x' } });
    expectAs('pushSignup', '401 invalid_webhook_signature', await send(unsigned));
    expectAs('pushSignup', '404 not_configured', await send(signedSignup(body), bare));
    expectAs('pushSignup', '413 body_too_large', await send(signedSignup(body.padEnd(65_537))));
    const encoded = signedSignup(body, { headers: { 'content-encoding': 'gzip' } });
    expectAs('pushSignup', '415 unsupported_media_type', await send(encoded));
    const invalid = await send(signedSignup('{"signup_id":""}'));
    expectAs('pushSignup', '422 validation_failed', invalid);
    expect(JSON.parse(invalid.text).errors).toHaveLength(5);
    const breaksOff = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    const half: Asked = ['/integrations/crm/signups', { ...signedSignup(body)[1], body: breaksOff }];
    expectAs('pushSignup', '400 invalid_request', await send(half));
  });

  it('gets the documented refusal if the same id is used twice', async () => {
    const signup = (id: string, webhookId: string) =>
      signedSignup(JSON.stringify(buildSignup(id)), { webhookId });
    expect((await send(signup('crm_once', 'twice'))).status).toBe(201);
    expectAs('pushSignup', '422 idempotency_key_reused', await send(signup('crm_other', 'twice')));
    await app.db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtextextended('under_way', 0))`.execute(trx);
      expectAs('pushSignup', '409 request_in_progress', await send(signup('crm_way', 'under_way')));
    });
  });

  it('is read back as documented', async () => {
    expectAs('listContracts', '200', await ask('listContracts'));
    const headers = bearerOf(app, 'crm_app');
    const list = (query: string, more: SendOptions = { headers }) =>
      app.send(`/integrations/crm/contracts${query}`, more);
    expectAs('listContracts', '400 invalid_request', await list('?after=x'));
    expectAs('listContracts', '401 invalid_token', await list('', { headers: bearerOf(app, 'shop') }));
  });
});

describe('what a payment provider sends', () => {
  const send = (request: Asked, at: Pick<TestApp, 'send'> = app) => at.send(...request);

  it('gets the documented answer', async () => {
    const body = JSON.stringify(buildPayment(100));
    const first = signedReport(body, { webhookId: 'paid_1' });
    expectAs('reportPayment', '201', await send(first));
    const again = await send(first);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expectAs('reportPayment', '201', again);
    expectAs('reportPayment', '200', await send(signedReport(body)));
  });

  it('gets the documented refusal', async () => {
    const body = JSON.stringify(buildPayment(100));
    expectAs('reportPayment', '400 malformed_json', await send(signedReport('{')));
    const unsigned = signedReport(body, { headers: { 'webhook-signature': 'v1,x' } });
    expectAs('reportPayment', '401 invalid_webhook_signature', await send(unsigned));
    expectAs('reportPayment', '404 not_configured', await send(signedReport(body), bare));
    expectAs('reportPayment', '413 body_too_large', await send(signedReport(body.padEnd(65_537))));
    const encoded = signedReport(body, { headers: { 'content-encoding': 'gzip' } });
    expectAs('reportPayment', '415 unsupported_media_type', await send(encoded));
    expectAs('reportPayment', '422 validation_failed', await send(signedReport('{}')));
    const breaksOff = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    const half: Asked = ['/integrations/payments', { ...signedReport(body)[1], body: breaksOff }];
    expectAs('reportPayment', '400 invalid_request', await send(half));
    const payment = buildPayment(100);
    await send(signedReport(JSON.stringify(payment)));
    const other = JSON.stringify({ ...payment, kind: 'refund', of: 'pay_other' });
    expectAs('reportPayment', '422 idempotency_key_reused', await send(signedReport(other)));
    await app.db.transaction().execute(async (trx) => {
      const key = `payments:${createHash('sha256').update('paid_under_way').digest('hex')}`;
      await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(trx);
      const answer = await send(signedReport(body, { webhookId: 'paid_under_way' }));
      expectAs('reportPayment', '409 request_in_progress', answer);
    });
  });
});

it('a payment provider reads invoices as documented', async () => {
  const list = (query: string, more: SendOptions, at: Pick<TestApp, 'send'> = app) =>
    at.send(`/integrations/payments/invoices${query}`, more);
  expectAs('listInvoicesToPay', '200', await ask('listInvoicesToPay'));
  expectAs('listInvoicesToPay', '400 invalid_request', await list('?after=x', signedEmpty()));
  expectAs('listInvoicesToPay', '401 invalid_webhook_signature', await list('', {}));
  expectAs('listInvoicesToPay', '404 not_configured', await list('', signedEmpty(), bare));
});

it('requests about the service itself get the documented answer', async () => {
  expectAs('securityTxt', '404 not_configured', await bare.send('/.well-known/security.txt'));
  const headers = { 'if-none-match': (await ask('readOpenApi')).headers.get('etag') ?? '' };
  expectAs('readOpenApi', '304', await ask('readOpenApi', app, { headers }));
});

describe('what comes to a client is what the document says', () => {
  it('if a browser brings a hand-off', async () => {
    const { parameters = [] } = document.webhooks.handOff?.get ?? {};
    const expectDescribed = (query: URLSearchParams) => {
      for (const [name, value] of query) {
        const parameter = parameters.find((each) => each.name === name);
        expect(checker.check(parameter?.schema ?? { enum: [] }, value), name).toEqual([]);
      }
    };
    const handOff = locationOf(await ask('launch')).searchParams;
    expectDescribed(handOff);
    expect([...handOff.keys()]).toEqual(['payload', 'signature']);
    const payload = JSON.parse(Buffer.from(handOff.get('payload') ?? '', 'base64url').toString());
    const schema = parameters.find(({ name }) => name === 'payload')?.schema.contentSchema ?? { enum: [] };
    expect(checker.check(schema, payload)).toEqual([]);
    expect(checker.check(schema, { ...payload, more: 1 })).toHaveLength(1);
    const person = await addPerson(app.db);
    await sql`update users set email_verified_at = null where id = ${person.id}`.execute(app.db);
    const unproved = await openSession(app.db, person);
    for (const cookie of ['', unproved]) {
      const { searchParams } = locationOf(await app.send('/sso/launch/shop?prompt=none&state=s', { cookie }));
      expect([...searchParams.keys()]).toEqual(['error', 'state']);
      expectDescribed(searchParams);
    }
  });

  it('if it is nudged', async () => {
    await appendEvents(app.db, 'shop');
    await vi.waitFor(() => expect(target.received).not.toEqual([]), { timeout: 10_000 });
    const { parameters = [], requestBody } = document.webhooks.nudge?.post ?? {};
    const [nudge] = target.received;
    expect(nudge?.method).toBe('POST');
    for (const { name, schema, required } of parameters) {
      expect(required).toBe(true);
      expect(checker.check(schema, readPlain(schema, nudge?.headers[name] ?? '')), name).toEqual([]);
    }
    const schema = requestBody?.content['application/json']?.schema ?? { enum: [] };
    expect(checker.check(schema, JSON.parse(nudge?.body ?? ''))).toEqual([]);
  });
});

/** Each outcome that the document names but no test above has seen, and why. */
const notSeen: Record<string, string> = {
  '503 unavailable':
    'needs no database: only while the service starts or is overloaded (test/http/door.test.ts)',
  '500 internal_error': 'nothing in it can be broken from outside',
};

it('the document names nothing else', () => {
  for (const { operation } of listOperations(document.paths)) {
    const { operationId } = operation;
    // Answers to HEAD have no body, and therefore no code. Tests above check their statuses.
    if (operationId.endsWith('Speculatively')) continue;
    const outcomes = seen.get(operationId) ?? new Set();
    const left = listOutcomes(document, operation).filter((outcome) => !outcomes.has(outcome));
    const isExcused = needNoData.has(operationId) || operationId === 'readyz';
    const excused = isExcused ? Object.keys(notSeen).filter((outcome) => !outcomes.has(outcome)) : [];
    expect(left.sort(), operationId).toEqual(excused.sort());
  }
});

// Sends every worked request of the OpenAPI document, with the clock at the time of the example, and expects the answer that
// the document shows.
import { createHmac } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import type { OpenApi } from '../../server/doors/openapi/document.ts';
import { exampleMarketplace, exampleSecrets, exampleTime } from '../../server/doors/openapi/examples.ts';
import type { Answer as Described } from '../../server/doors/openapi/parts.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import {
  createChecker,
  findAnswer,
  findFaults,
  listOperations,
  listWorked,
  readDocument,
} from '../support/app/openapi.ts';
import { addInvoice } from '../support/billing/money.ts';
import { setBillingClock, setSettings } from '../support/billing/settings.ts';
import { tokenOf } from '../support/events/events.ts';
import { shared } from '../support/run/shared.ts';

let document: OpenApi;
const app = shared(() =>
  openApp({
    now: () => new Date((exampleTime + 20) * 1_000),
    env: {
      SSO_CLIENTS: 'shop',
      SSO_SHOP_CALLBACK_URL: 'http://localhost:4000/sso/callback',
      SSO_SHOP_SECRET: exampleSecrets.client,
      CRM_SIGNUPS_SECRET: exampleSecrets.signups,
      PAYMENTS_SECRET: exampleSecrets.payments,
      MARKETPLACE_SSO_SECRET: exampleSecrets.marketplace,
      MARKETPLACE_SSO_ISSUER: exampleMarketplace,
    },
  }),
);
beforeAll(async () => {
  await setSettings(app.db);
  await setBillingClock(app.db, '2026-01-01T00:00:00Z');
  document = await readDocument(app);
});

/** Returns what the request needs besides its parameters. */
async function credentialsOf(operationId: string, name: string): Promise<Record<string, string>> {
  if (operationId === 'pullEvents')
    return { authorization: `Bearer ${tokenOf(exampleSecrets.client, 'shop')}` };
  if (operationId === 'listContracts') {
    const secret = app.config.clients.get('crm_app')?.secrets[0] ?? '';
    return { authorization: `Bearer ${tokenOf(secret, 'crm_app')}` };
  }
  return name === 'logged_in' ? { cookie: await app.login('merchant@example.test') } : {};
}

const toJson = { 'content-type': 'application/json' };

/** Hides ids, and values that differ from message to message. */
const mask = (text: string) =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/payload=[\w-]+/g, 'payload=…')
    .replaceAll(/signature=[0-9a-f]{64}/g, 'signature=…')
    .replace(/^https?:\/\/[^/]+/, '');

const namesIn = (given: object) => Object.keys(given).sort();

function expectNamed({ headers = {}, content = {} }: Described, name: string, answer: Answer): void {
  for (const [header, described] of Object.entries(headers)) {
    const example = '$ref' in described ? undefined : described.examples?.[name];
    if (example) expect(mask(answer.headers.get(header) ?? '')).toBe(mask(String(example.value)));
  }
  for (const { examples } of Object.values(content)) {
    const example = examples?.[name];
    if (!example) continue;
    const [given, said] = [JSON.parse(mask(answer.text)), JSON.parse(mask(JSON.stringify(example.value)))];
    // These events and invoices belong to people of this test, so only the names of their JSON members are compared with the
    // example.
    if (given.events) expect(namesIn(given)).toEqual(namesIn(said));
    else if (given.invoices) expect(namesIn(given.invoices[0])).toEqual(namesIn(said.invoices[0]));
    else if (given.code) expect({ ...given, detail: '' }).toMatchObject({ ...said, detail: '' });
    else expect(given).toEqual(said);
  }
}

it('every request of the document gets what it says', async () => {
  const checker = createChecker(document, { closed: true });
  const sent: string[] = [];
  for (const place of listOperations(document.paths)) {
    for (const { name, method, path, headers, body, status } of listWorked(document, place)) {
      const what = `${place.operation.operationId} ${name}`;
      if (what === 'reportPayment payment') await addInvoice(app.db);
      const credentials = await credentialsOf(place.operation.operationId, name);
      const answer = await app.send(path, {
        method,
        headers: { ...headers, ...credentials, ...(body !== undefined && toJson) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      expect(String(answer.status), `${what} ${answer.text}`).toBe(status);
      expect(findFaults(document, checker, place.operation, answer), what).toEqual([]);
      const response = place.operation.responses[answer.status];
      if (response) expectNamed(findAnswer(document)(response), name, answer);
      sent.push(what);
    }
  }
  expect(sent).toEqual(
    expect.arrayContaining(['launch logged_in', 'pushSignup active', 'pullEvents events_gone']),
  );
  expect(sent.length).toBeGreaterThan(12);
});

it('a request of the document that is changed is not what it says', async () => {
  const place = listOperations(document.paths).find(
    ({ operation }) => operation.operationId === 'pushSignup',
  );
  const [worked] = place ? listWorked(document, place) : [];
  const body = JSON.stringify(worked?.body).replace('crm_1001', 'crm_1002');
  const answer = await app.send(worked?.path ?? '', {
    body,
    headers: { ...worked?.headers, ...toJson },
  });
  expect(answer.status).toBe(401);
  const mac = createHmac('sha256', Buffer.from(exampleSecrets.signups.slice(6), 'base64'));
  const signed = mac.update(`msg_1001.${exampleTime}.${JSON.stringify(worked?.body)}`).digest('base64');
  expect(worked?.headers['webhook-signature']).toBe(`v1,${signed}`);
});

import { beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { createCustomer } from '../../server/identity/ground/customers.ts';
import vectors from '../sso-vectors.json' with { type: 'json' };
import { codeOf, openApp, type TestInstance } from '../support/app/app.ts';
import { production } from '../support/app/settings.ts';
import { buildSignup, freshWebhookId, type SignupBody, sendSignup, signMessage } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const { signups } = vectors;
const vectorTime = new Date(Number(signups.webhook_timestamp) * 1_000);
const path = '/integrations/crm/signups';

const app = shared(openApp);

describe('the published vector over HTTP', () => {
  const message = {
    'content-type': 'application/json',
    'webhook-id': signups.webhook_id,
    'webhook-timestamp': signups.webhook_timestamp,
  };
  const send = (to: TestInstance, signature: string, body = signups.body) =>
    to.send(path, { body, method: 'POST', headers: { ...message, 'webhook-signature': signature } });
  const instance = shared(() =>
    app.startInstance({ env: { CRM_SIGNUPS_SECRET: signups.secret }, now: () => vectorTime }),
  );

  it.each(signups.rejected_signatures.map(({ why, webhook_signature }) => [why, webhook_signature]))(
    'is refused with a wrong signature: %s',
    async (_, signature) => {
      const answer = await send(instance, signature ?? '');
      expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_webhook_signature']);
    },
  );

  it('is accepted, but not with its body serialised again', async () => {
    const { contract, ...rest } = JSON.parse(signups.body);
    const other = await send(instance, signups.webhook_signature, JSON.stringify({ contract, ...rest }));
    expect([other.status, codeOf(other)]).toEqual([401, 'invalid_webhook_signature']);
    const answer = await send(instance, signups.webhook_signature);
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({
      signup_id: 'crm_1001',
      contract: { status: 'trialing', plan: 'starter', trial_ends_at: '2026-01-15T00:00:00.000Z' },
    });
  });
});

describe('a rotation of the signup secret', () => {
  const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
  const [old, next, third] = [secretOf(1), secretOf(2), secretOf(3)];
  const sendSigned = (to: TestInstance, ...by: string[]) => {
    const body = JSON.stringify(buildSignup(`rotation_${freshWebhookId()}`));
    const message = { webhookId: freshWebhookId(), at: new Date() };
    const signed = by.map((secret) => signMessage(secret, body, message));
    const signature = signed.map((headers) => headers['webhook-signature']).join(' ');
    return to.send(path, {
      method: 'POST',
      body,
      headers: { ...signed[0], 'webhook-signature': signature },
    });
  };

  it('accepts either secret, alone or together, and no third one', async () => {
    const instance = await app.startInstance({ env: { CRM_SIGNUPS_SECRET: `${old},${next}` } });
    for (const by of [[old], [next], [old, next], [next, old], [third, next], [third, third, old]]) {
      expect((await sendSigned(instance, ...by)).status).toBe(201);
    }
    expect((await sendSigned(instance, third)).status).toBe(401);
  });

  it('lets a sender that signs with both reach a service that knows either', async () => {
    for (const known of [old, next]) {
      const instance = await app.startInstance({ env: { CRM_SIGNUPS_SECRET: known } });
      expect((await sendSigned(instance, old, next)).status).toBe(201);
      expect((await sendSigned(instance, known === old ? next : old)).status).toBe(401);
    }
  });
});

describe('a message to the signup endpoint', () => {
  const signup = (name: string): SignupBody => buildSignup(`browser_${name}`);

  it.each([
    ['another site’s Origin', { origin: 'https://evil.example' }],
    ['Origin: null', { origin: 'null' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
    ['our own Origin', { origin: 'http://localhost:3000' }],
  ])('is accepted with a browser header such as %s', async (name, headers) => {
    const answer = await sendSignup(app, signup(name.replaceAll(/\W/g, '')), { headers });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('is accepted without any browser header', async () => {
    const body = JSON.stringify(signup('none'));
    const headers = signMessage(app.config.crmSignupsSecrets?.[0] ?? '', body);
    const request = new Request(`http://localhost:3000${path}`, { method: 'POST', body, headers });
    expect((await app.fetch(request, { address: '192.0.2.1' })).status).toBe(201);
  });

  it('is refused without a credential, even with the session of an administrator', async () => {
    const cookie = await app.login('admin@example.test');
    const answer = await app.send(path, { json: signup('admin'), cookie });
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_webhook_signature']);
  });
});

describe('the signup endpoint in production', () => {
  const email = 'operator@example.com';
  const signup = (name: string) => JSON.stringify(buildSignup(name, { user: { email, name: 'Known' } }));
  const signLocally = (body: string) => signMessage(app.config.crmSignupsSecrets?.[0] ?? '', body);
  let others: Record<string, string>;
  beforeAll(async () => {
    const { db } = app;
    // A production database holds no demo users. The user exists already, because this test would not send the mail to a new
    // user.
    for (const table of ['service_contracts', 'mails', 'sessions', 'users'] as const)
      await db.deleteFrom(table).execute();
    const known = {
      email,
      holdsEmail: true,
      emailVerifiedAt: null,
      name: 'Known',
      account: { name: 'Known' },
    };
    await inTransaction(db, { by: 'service' }, (trx) => createCustomer(trx, known));
    const { CRM_SIGNUPS_SECRET, ...rest } = production as Record<string, string>;
    others = rest;
  });

  it('is off without CRM_SIGNUPS_SECRET, even for messages signed with the local secret', async () => {
    const instance = await app.startInstance({ env: others });
    const body = signup('crm_off');
    for (const headers of [signLocally(body), {}] as Record<string, string>[]) {
      const answer = await instance.send(path, { method: 'POST', body, headers });
      expect([answer.status, codeOf(answer)]).toEqual([404, 'not_configured']);
    }
    expect((await sendSignup(app, body)).status).toBe(201);
  });

  it('is on with CRM_SIGNUPS_SECRET, and accepts only that secret', async () => {
    const env = { ...others, CRM_SIGNUPS_SECRET: production.CRM_SIGNUPS_SECRET ?? '' };
    const instance = await app.startInstance({ env });
    const body = signup('crm_on');
    const answer = await instance.send(path, { method: 'POST', body, headers: signLocally(body) });
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_webhook_signature']);
    expect((await sendSignup(instance, body)).status).toBe(201);
  });
});

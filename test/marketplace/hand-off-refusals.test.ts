import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { buildRefusedCases, type Case } from '../support/clients/refused-hand-offs.ts';
import { digestRows } from '../support/database/database.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import type { Wire } from '../support/run/cases.ts';
import { shared } from '../support/run/shared.ts';

const now = Math.floor(Date.now() / 1_000);
const app = shared(() => openApp({ now: () => new Date(now * 1_000) }));

let serial = 0;

/** node:crypto makes the signature, so that our own code does not check itself. */
function buildPath({ payload: change, text, query: changeQuery, secret }: Partial<Case>): string {
  const payload: Wire = {
    iss: 'https://marketplace.local.test',
    aud: 'http://localhost:3000',
    iat: now,
    exp: now + 300,
    nonce: `nonce-nonce-nonce-${serial++}`,
    client: 'marketplace',
    profile: {
      id: 'refused',
      email: 'refused@example.test',
      email_verified: true,
      name: 'Refused',
      role: 'customer',
      account: { capabilities: [], name: 'Refused' },
      profile_updated_at: '2026-01-01T00:00:00.000Z',
    },
  };
  change?.(payload);
  const json = JSON.stringify(payload);
  const wire = Buffer.from(text?.(json) ?? json).toString('base64url');
  const key = secret ?? app.config.marketplaceInbound?.secrets[0] ?? '';
  const signature = createHmac('sha256', key).update(wire).digest('hex');
  const query = new URLSearchParams({ payload: wire, signature });
  changeQuery?.(query);
  return `/sso/marketplace/callback?${query}`;
}

/** The tables include the audit trail, because strangers must not be able to fill it. */
const tables = [
  'accounts',
  'audit_events',
  'users',
  'external_links',
  'pending_hand_offs',
  'sessions',
  'nonces',
];
const cases = buildRefusedCases(now);

it('has at least 120 cases, and accepts the hand-off that each of them changes (contract 6.1 to 6.5 and 6.8)', async () => {
  expect(new Set(cases.map(({ why }) => why)).size).toBe(cases.length);
  expect(cases.length).toBeGreaterThanOrEqual(120);
  expect((await app.send(buildPath({}))).status).toBe(303);
});

describe.each([...new Set(cases.map(({ code }) => code))])('a hand-off is refused as %s', (code) => {
  it.each(cases.filter((one) => one.code === code).map((one) => [one.why, one] as const))(
    'in this case: %s',
    async (_, one) => {
      const before = await digestRows(app.db, tables);
      const startedAt = performance.now();
      const answer = await app.send(buildPath(one), { method: one.method });
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      const problem = JSON.parse(answer.text);
      expect([answer.status, problem.code]).toEqual([one.status, one.code]);
      expect(Object.keys(problem).sort()).toEqual(['code', 'detail', 'status', 'title', 'type']);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(answer.headers.get('cache-control')).toBe('no-store');
      // No detail tells an attacker what to change, because all cases of a code have the same words.
      expect(problem.detail).not.toMatch(/mac|iss\b|aud|nonce|utf|depth|zod|regex|secret/i);
      expect(await digestRows(app.db, tables)).toBe(before);
      if (one.status !== 405) {
        const line = app.logged.findLast(({ message }) => message === 'hand-off refused');
        expect(line?.fields).toMatchObject({
          code: one.code,
          reason: expect.stringMatching(/.+/),
          address: '192.0.2.1',
        });
      }
      const next = await openHandOff(app, await buildHandOff(app, { id: 'works' }, new Date(now * 1_000)));
      expect((await app.send('/sso/profile', { cookie: cookieOf(next) })).status).toBe(200);
    },
  );
});

it('answers 404 not_configured without its settings (contract 8.12)', async () => {
  const { startInstance } = app;
  const random = (seed: string) => Buffer.from(seed.repeat(12)).toString('base64');
  await sql`delete from external_links`.execute(app.db);
  await sql`delete from sessions`.execute(app.db);
  await sql`delete from users`.execute(app.db);
  const production = await startInstance({
    env: {
      NODE_ENV: 'production',
      IDENTITY_ISSUER: 'https://id.example.com',
      DATABASE_URL: app.databaseUrl,
      SMTP_URL: 'smtps://mail.example.com',
      IDENTITY_ENCRYPTION_KEY: 'fXtK1cQ0sN2mRr9hYw3uEo7bVg5LzPa8DjUiH4xTkSg=',
      MAIL_FROM: 'id@example.com',
      TRUSTED_PROXIES: 'none',
      SSO_CRM_CALLBACK_URL: 'https://crm.example.com/in',
      SSO_CRM_SECRET: random('k3Jx'),
    },
  });
  const answer = await production.send(buildPath({}));
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'not_configured']);
});

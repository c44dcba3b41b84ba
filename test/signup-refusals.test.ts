import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApp, type TestApp } from './support/app.ts';
import { buildRawMessage, buildRawSignup, type Change, sendRaw } from './support/raw-signups.ts';
import { buildRefusedCases } from './support/refused-signups.ts';

const now = Math.floor(Date.now() / 1_000);
const cases = buildRefusedCases(now);

let app: TestApp;
let secret: string;
let tables: string[];
beforeAll(async () => {
  app = await openApp({ now: () => new Date(now * 1_000) });
  secret = app.config.crmSignupsSecrets?.[0] ?? '';
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(app.db);
  tables = rows.map(({ name }) => name);
});
afterAll(() => app.close());

const build = (change: Change) => buildRawMessage(secret, now, buildRawSignup(now, 'refused'), change);

/** Of somebody who is known already, so that no mail is written whose sending would change tables later. */
let serial = 0;
async function sendGenuine() {
  const signup = buildRawSignup(now, `genuine-${serial++}`);
  signup.user.email = 'customer@example.test';
  return sendRaw(app, buildRawMessage(secret, now, signup, {}).request);
}

/** Every row of every table, as one digest. */
async function digestOfTables(): Promise<string> {
  const digests = tables.map(
    (table) => sql`select md5(string_agg(t::text, '|' order by t::text)) from ${sql.table(table)} t`,
  );
  const { rows } = await sql`${sql.join(digests, sql` union all `)}`.execute(app.db);
  return JSON.stringify(rows);
}

it('knows at least 80 of them, and sees what an accepted one changes', async () => {
  expect(new Set(cases.map(({ why }) => why)).size).toBe(cases.length);
  expect(cases.length).toBeGreaterThanOrEqual(80);
  expect(tables).toEqual(expect.arrayContaining(['users', 'service_contracts', 'webhook_requests', 'mails']));
  const before = await digestOfTables();
  expect(await digestOfTables()).toBe(before);
  expect((await sendGenuine()).status).toBe(201);
  expect(await digestOfTables()).not.toBe(before);
});

describe.each([...new Set(cases.map(({ code }) => code))])('%s', (code) => {
  it.each(cases.filter((one) => one.code === code))('$why', async (one) => {
    const { request, mac } = build(one);
    const before = await digestOfTables();
    const linesBefore = app.logged.length;
    const startedAt = performance.now();
    const { status, headers, text } = await sendRaw(app, request);
    expect(performance.now() - startedAt).toBeLessThan(1_000);

    expect([status, headers.get('content-type')]).toEqual([one.status, 'application/problem+json']);
    expect(headers.get('allow')).toBe(status === 405 ? 'POST' : null);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('set-cookie')).toBeNull();
    expect(headers.get('idempotent-replayed')).toBeNull();
    if (one.method !== 'HEAD') {
      const problem = JSON.parse(text);
      expect(problem).toMatchObject({
        status: one.status,
        code: one.code,
        type: expect.stringContaining(code),
      });
      const pointers = problem.errors?.map(({ pointer }: { pointer: string }) => pointer);
      expect(pointers).toEqual(one.pointers);
    }

    // Neither the answer nor the log holds a value of the body, the secret, or what would have been right.
    const told = JSON.stringify([text, [...headers], app.logged.slice(linesBefore)]);
    expect(told).not.toMatch(/canary|whsec|QQQ|DEM\b|past_due|2025-\d\d-|do-not-use/i);
    for (const hidden of [mac, secret, secret.slice('whsec_'.length)]) expect(told).not.toContain(hidden);

    expect(await digestOfTables()).toBe(before);
    expect((await sendGenuine()).status).toBe(201);
  });
});

it('takes what they start from', async () => {
  expect((await sendRaw(app, build({}).request)).status).toBe(201);
});

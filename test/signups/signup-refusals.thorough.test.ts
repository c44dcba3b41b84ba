import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { buildRawMessage, buildRawSignup, type Change, sendRaw } from '../support/crm/raw-signups.ts';
import { buildRefusedCases } from '../support/crm/refused-signups.ts';
import { countRows, digestRows } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const now = Math.floor(Date.now() / 1_000);
const cases = buildRefusedCases(now);

let secret: string;
let tables: string[];
const app = shared(() => openApp({ now: () => new Date(now * 1_000) }));
beforeAll(async () => {
  secret = app.config.crmSignupsSecrets?.[0] ?? '';
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(app.db);
  // Tables that jobs change later: they send mails, number and announce events, index people, and add up counts.
  const later = [
    ...['mails', 'events', 'event_sequences', 'event_deliveries', 'people_to_index', 'person_words'],
    'sums_of_hours',
  ];
  tables = rows.map(({ name }) => name).filter((name) => !later.includes(name));
});

const build = (change: Change) => buildRawMessage(secret, now, buildRawSignup(now, 'refused'), change);

const look = async () => [await digestRows(app.db, tables), await countRows(app.db, 'mails')];

let serial = 0;
async function sendGenuine() {
  const signup = buildRawSignup(now, `genuine-${serial++}`);
  signup.user.email = 'customer@example.test';
  return sendRaw(app, buildRawMessage(secret, now, signup, {}).request);
}

it('at least 80 signups are to be refused, and an accepted one does change the tables', async () => {
  expect(new Set(cases.map(({ why }) => why)).size).toBe(cases.length);
  expect(cases.length).toBeGreaterThanOrEqual(80);
  expect(tables).toEqual(expect.arrayContaining(['users', 'service_contracts', 'webhook_requests']));
  const before = await look();
  expect(await look()).toEqual(before);
  expect((await sendGenuine()).status).toBe(201);
  expect(await look()).not.toEqual(before);
});

describe.each([...new Set(cases.map(({ code }) => code))])('a signup is refused as %s', (code) => {
  const refusals = cases.filter((one) => one.code === code).map((one) => [one.why, one] as const);

  it.each(refusals)('for %s', async (_, one) => {
    const { request, mac } = build(one);
    const before = await look();
    const linesBefore = app.logged.length;
    const startedAt = performance.now();
    const { status, headers, text } = await sendRaw(app, request);
    expect(performance.now() - startedAt).toBeLessThan(10_000);

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

    // Operators look for this line if somebody tries to forge a signup.
    const line = app.logged.slice(linesBefore).find(({ message }) => message === 'signup refused');
    if (![405, 413].includes(status)) expect(line?.fields).toMatchObject({ code, address: '192.0.2.7' });

    // Neither the answer nor the log has a value from the body, the secret, or the right signature.
    const told = JSON.stringify([text, [...headers], app.logged.slice(linesBefore)]);
    expect(told).not.toMatch(/canary|whsec|QQQ|DEM\b|past_due|2025-\d\d-|do-not-use/i);
    for (const hidden of [mac, secret, secret.slice('whsec_'.length)]) expect(told).not.toContain(hidden);

    expect(await look()).toEqual(before);
    expect((await sendGenuine()).status).toBe(201);
  });
});

it('the signup that the refused ones are made from is accepted', async () => {
  expect((await sendRaw(app, build({}).request)).status).toBe(201);
});

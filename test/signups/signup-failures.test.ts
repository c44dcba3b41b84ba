import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { canary } from '../support/app/settings.ts';
import { buildSignup, freshWebhookId, sendSignup } from '../support/crm/crm.ts';
import { countRows, whileInsertsFail } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const tables = ['accounts', 'users', 'mails', 'service_contracts', 'audit_events', 'webhook_requests'];

const counts = () => Promise.all(tables.map((table) => countRows(app.db, table)));

const body = `raise exception '${canary}'`;

describe('a signup that fails', () => {
  it.each([
    ...tables.map((table) => ['insert', table, false] as const),
    ['commit', 'accounts', true] as const,
    ['commit', 'webhook_requests', true] as const,
  ])('at the %s of a row of %s leaves nothing, and its retry works', async (_, table, atCommit) => {
    const signup = buildSignup(`fails_at_${table}_${atCommit}`);
    const webhookId = freshWebhookId();
    const before = await counts();
    await whileInsertsFail(app.db, table, { body, atCommit }, async () => {
      const answer = await sendSignup(app, signup, { webhookId });
      expect(answer.status).toBe(500);
      expect(JSON.parse(answer.text).code).toBe('internal_error');
      // The answer does not say what failed. Only the log does.
      expect(answer.text).not.toContain(canary);
      const requestId = answer.headers.get('x-request-id');
      const told = app.logged.filter(
        ({ level, fields }) => level === 'error' && fields.requestId === requestId,
      );
      expect(told.map(({ fields }) => String(fields.err))).toEqual([expect.stringContaining(canary)]);
    });
    expect(await counts()).toEqual(before);

    const retried = await sendSignup(app, signup, { webhookId });
    expect(retried.status).toBe(201);
    expect(retried.headers.get('idempotent-replayed')).toBeNull();
    expect(await counts()).toEqual(before.map((n) => n + 1));
    expect(await sendSignup(app, signup, { webhookId })).toMatchObject({ status: 201, text: retried.text });
    expect(await counts()).toEqual(before.map((n) => n + 1));
  });

  it('at an update leaves the contract unchanged, and its retry works', async () => {
    const first = buildSignup('update_fails');
    await sendSignup(app, first);
    const update = {
      ...first,
      occurred_at: new Date().toISOString(),
      contract: { ...first.contract, plan: 'bigger' },
    };
    const plan = async () =>
      (
        await sql<{
          plan: string;
        }>`select plan from service_contracts where signup_id = 'update_fails'`.execute(app.db)
      ).rows[0]?.plan;
    const webhookId = freshWebhookId();
    const before = await counts();
    await whileInsertsFail(app.db, 'webhook_requests', { body }, async () => {
      expect((await sendSignup(app, update, { webhookId })).status).toBe(500);
    });
    expect(await plan()).toBe('starter');
    expect(await counts()).toEqual(before);
    expect((await sendSignup(app, update, { webhookId })).status).toBe(200);
    expect(await plan()).toBe('bigger');
  });

  // https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html
  it.each([
    ['40P01', 'a deadlock'],
    ['40001', 'a serialization failure'],
  ])('with SQLSTATE %s, %s, is retried by the service and done once', async (code) => {
    const before = await counts();
    const sequence = sql.table(`failures_${code.toLowerCase()}`);
    // A sequence keeps its value when a transaction fails.
    await sql`create sequence ${sequence}`.execute(app.db);
    const body = `if nextval('failures_${code.toLowerCase()}') <= 3 then raise exception using errcode = '${code}'; end if`;
    await whileInsertsFail(app.db, 'webhook_requests', { body }, async () => {
      expect((await sendSignup(app, buildSignup(`meets_${code}`))).status).toBe(201);
    });
    expect(await counts()).toEqual(before.map((n) => n + 1));
  });
});

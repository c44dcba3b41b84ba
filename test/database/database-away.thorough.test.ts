// Contract 9.97 to 9.99, 503 `unavailable`: while the database is away, nothing is lost, half done or unsigned.
import { sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { demoPassword as password } from '../../server/doors/demo/demo-users.ts';
import { locationOf } from '../support/app/app.ts';
import { openBrowser } from '../support/app/visitor.ts';
import { buildSignup, freshWebhookId, sendSignup } from '../support/crm/crm.ts';
import {
  expectUnavailable,
  openAway,
  patienceMs,
  requests,
  trpcRequests,
  whileLocked,
} from '../support/faults/away.ts';
import { buildHandOff, handOver } from '../support/marketplace/marketplace.ts';
import { tokenIn } from '../support/people/mail-server.ts';
import { named, nameRequest } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const away = shared(openAway);
afterEach(async () => {
  away.wire.restore();
  await away.expectNothingLost();
});

describe('the service, cut off from its database,', () => {
  it.each(named(requests))('answers %s with 503', async (_, path, options) => {
    away.wire.cut();
    await expectUnavailable(away.ask(path, options), options);
  });

  it.each(named(trpcRequests))(
    'answers %s with 503 in the form its caller reads',
    async (_, path, options) => {
      away.wire.cut();
      const answer = await away.ask(path, options);
      expect.soft(answer.status).toBe(503);
      expect.soft(answer.headers.get('retry-after') ?? '').toMatch(/^[1-9]\d*$/);
      expect(answer.headers.get('set-cookie')).toBeNull();
    },
  );

  it('goes on answering everything that needs no data', async () => {
    away.wire.cut();
    for (const [path, status] of [
      ['/healthz', 200],
      ['/login', 200],
      ['/problems/unavailable', 200],
      ['/nowhere', 404],
      ['/sso/launch/nobody', 404],
      ['/sso/profile', 401],
    ] as const)
      expect((await away.ask(path, { cookie: '' })).status, path).toBe(status);
  });

  it('logs the cause, and shows it to nobody', async () => {
    away.wire.cut();
    await expectUnavailable(away.ask('/sso/profile'));
    const faults = away.app.logged.filter(({ message }) => message === 'request failed');
    expect(faults.at(-1)?.fields).toMatchObject({ code: 'unavailable', err: expect.any(Error) });
  });
});

it('the service survives having its database connections terminated again and again', async () => {
  const statuses = new Set<number>();
  for (let round = 0; round < 15; round++) {
    const asked = Array.from({ length: 8 }, () => away.ask('/sso/profile'));
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(away.app.db);
    for (const { status } of await Promise.all(asked)) statuses.add(status);
  }
  for (const status of statuses) expect([200, 503]).toContain(status);
});

describe('a request that loses its database half way', () => {
  const terminate = () =>
    sql`select pg_terminate_backend(pid) from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database()`.execute(away.app.db);
  const ends: [how: string, end: () => unknown][] = [
    ['its connection is terminated', terminate],
    ['the wire is cut', () => away.wire.cut()],
  ];
  const losses: typeof ends = [...ends, ['its answers are lost', () => away.wire.deafen()]];
  const login = { email: 'customer@example.test', password };
  const names = { intent: 'names', name: 'Half Done', accountName: 'Half Done' };
  const change = { intent: 'password', currentPassword: password, newPassword: 'half done, half done' };
  // Each change writes its audit event last, after everything else in its transaction.
  const changes = [
    ['/profile', { form: names }],
    ['/profile/security', { form: change }],
    ['/login', { form: login }],
    ['/logout', { method: 'POST' }],
  ] as const;

  it.each(
    losses.flatMap(([how, end]) =>
      changes.map(([path, options]) => [nameRequest(path, options), how, path, options, end] as const),
    ),
  )('leaves nothing half done: %s, when %s', async (_name, _how, path, options, end) => {
    const look = async () =>
      (
        await sql`select (select json_agg(s order by id) from sessions s) as sessions,
          (select json_agg(u order by id) from users u) as users`.execute(away.app.db)
      ).rows;
    const before = await look();
    await expectUnavailable(whileLocked(away.app.db, 'audit_events', () => away.ask(path, options), end));
    expect(await look()).toEqual(before);
  });

  it('leaves an outbound hand-off usable once more', async () => {
    const browser = openBrowser((path, options) => away.ask(path, options), away.cookie);
    let path = '/demo/marketplace/login';
    while (!path.startsWith('/demo/marketplace/callback')) {
      const { pathname, search } = locationOf(await browser.send(path));
      path = pathname + search;
    }
    const receive = () => browser.send(path);
    await expectUnavailable(whileLocked(away.app.db, 'nonces', receive, terminate));
    expect((await receive()).status).toBe(303);
    expect((await receive()).status).toBe(409);
  });

  it.each(ends)('leaves an inbound hand-off usable once more, when %s', async (how, end) => {
    const user = { id: how.replaceAll(' ', '-') };
    // The user has a marketplace link already, because a new user would take more statements.
    expect((await handOver(away.app, user)).status).toBe(303);
    const path = await buildHandOff(away.app, user);
    const receive = () => away.ask(path, { cookie: '' });
    // The lock holds the transaction up just before its last write, the audit event.
    await expectUnavailable(whileLocked(away.app.db, 'audit_events', receive, end));
    away.wire.restore();
    expect((await receive()).status).toBe(303);
    expect((await receive()).status).toBe(409);
  });

  it.each(ends)('lets a signup be sent again as if for the first time, when %s', async (how, end) => {
    const body = JSON.stringify(buildSignup(how.replaceAll(' ', '-')));
    const message = { webhookId: freshWebhookId() };
    const app = { config: away.app.config, send: away.ask };
    const receive = () => sendSignup(app, body, message);
    await expectUnavailable(whileLocked(away.app.db, 'webhook_requests', receive, end));
    away.wire.restore();
    const [answer, again] = [await receive(), await receive()];
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  });

  it.each(ends)('leaves a link that sets a password usable once more, when %s', async (_, end) => {
    const email = 'new-merchant@example.test';
    await sql`delete from mails`.execute(away.app.db);
    expect((await away.ask('/forgot-password', { form: { email }, cookie: '' })).status).toBe(303);
    const token = await vi.waitFor(async () => {
      const { rows } = await sql<{ text: string }>`select kept_text as text from mails
        where recipient = ${email} and kept_text is not null`.execute(away.app.db);
      return tokenIn(rows[0] ?? {}, '/set-password');
    }, patienceMs);
    const form = { newPassword: 'set by mail, by mail' };
    const receive = () => away.ask(`/set-password?token=${token}`, { form, cookie: '' });
    await expectUnavailable(whileLocked(away.app.db, 'audit_events', receive, end));
    away.wire.restore();
    expect((await receive()).status).toBe(303);
    expect((await receive()).status).toBe(404);
  });
});

// The service refuses requests immediately while too much is under way (contract 9.155).
import { connect, type Socket } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import type { Listener } from '../../server/runtime/listener.ts';
import { codeOf, expectRetryAfter, openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const places = 200;

let listener: Listener;
let cookie: string;
const app = shared(openApp);
beforeAll(async () => {
  listener = await listen(app.fetch, { host: '127.0.0.1', port: 0 });
  cookie = await app.login('customer@example.test');
});
afterAll(() => listener.close(0));

const launch = (accept = '*/*') => app.send('/sso/launch/marketplace', { cookie, headers: { accept } });

it('a request that finds every place taken is refused at once, and health is answered', async () => {
  const before = app.logged.length;
  const waiting = await app.db.transaction().execute(async (trx) => {
    await sql`lock table sessions in access exclusive mode`.execute(trx);
    const all = Array.from({ length: places }, () => launch());
    const refused = await launch();
    expect([refused.status, codeOf(refused)]).toEqual([503, 'unavailable']);
    expectRetryAfter(refused, 10);
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('referrer-policy')).toBe('no-referrer');
    expect(refused.headers.get('strict-transport-security')).toBe(
      (await app.send('/healthz')).headers.get('strict-transport-security'),
    );
    expect(refused.headers.get('x-frame-options')).toBe('DENY');
    const page = await launch('text/html');
    expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<h1>Sorry, the service is unavailable</h1>');
    expect((await app.send('/healthz')).status).toBe(200);
    expect((await app.send('/readyz')).status).toBe(200);
    return { all };
  });
  for (const { status } of await Promise.all(waiting.all)) expect(status).toBe(303);
  expect((await launch()).status).toBe(303);
  // All requests that were refused share one line in the log.
  const said = () => app.logged.slice(before).filter(({ message }) => message === 'turned away: too busy');
  await vi.waitFor(() => expect(said()).toHaveLength(1), 15_000);
  expect(said()[0]?.fields).toEqual({ requests: 2 });
});

it('requests whose body is still on the way take no place', async () => {
  const sockets: Socket[] = [];
  const before = app.logged.length;
  for (let n = 0; n < places + 20; n++) {
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `POST /login HTTP/1.1\r\nHost: localhost:3000\r\nOrigin: ${app.config.baseUrl}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\na`,
    );
    sockets.push(socket);
  }
  await new Promise((done) => setTimeout(done, 2_000));
  expect((await launch()).status).toBe(303);
  for (const socket of sockets) socket.destroy();
  const ended = () => app.logged.slice(before).filter(({ fields }) => fields.status === 400);
  await vi.waitFor(() => expect(ended()).toHaveLength(places + 20), 15_000);
});

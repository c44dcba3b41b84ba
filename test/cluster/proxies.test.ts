// What nginx.conf and Caddyfile of docs/operate/files/ do with requests. Two servers of the test take the place of the service.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as http2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  answerAtLength,
  type Balancer,
  closeServers,
  holdLogins,
  logInUnread,
  type Nginx,
  spellLogin,
  startCaddy,
  startNginx,
} from '../support/machines/balancer.ts';

type Handle = (request: IncomingMessage, answer: ServerResponse) => void;
const answerOk: Handle = (_, answer) => answer.end('ok');

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
])('%s', (name, start) => {
  let areReady = [true, true];
  let handle = answerOk;
  let got: IncomingMessage[] = [];
  const servers = [0, 1].map((n) =>
    createServer({ maxHeaderSize: 65_536 }, (request, answer) => {
      if (request.url === '/readyz') {
        answer.writeHead(areReady[n] ? 200 : 503).end();
        return;
      }
      got.push(request);
      handle(request, answer);
    }),
  );
  const portOf = (n: number) => (servers[n]?.address() as AddressInfo | undefined)?.port ?? 0;
  let balancer: Balancer;
  beforeAll(async () => {
    for (const server of servers) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    balancer = await start([portOf(0), portOf(1)]);
  });
  afterAll(async () => {
    await balancer?.close();
    closeServers(servers);
  });
  beforeEach(() => {
    areReady = [true, true];
    handle = answerOk;
    got = [];
  });

  it('says who asks, and passes no id of a request on, whatever the visitor says', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    await balancer.send('/', {
      headers: { 'x-forwarded-for': '192.0.2.66', 'x-request-id': 'chosen', traceparent, cookie: 'a=b' },
    });
    const seen = got.map(({ headers }) => [
      headers['x-forwarded-for'],
      headers['x-request-id'] ?? headers.traceparent,
      headers.host?.split(':')[0],
      headers.cookie,
    ]);
    expect(seen).toEqual([['127.0.0.1', undefined, 'localhost', 'a=b']]);
  });

  it('takes a body of 64 KiB, and of 2 MiB below /admin, which is the most that the service takes', async () => {
    handle = (request, answer) => request.resume().on('end', () => answer.end('ok'));
    expect((await balancer.send('/profile', { method: 'POST', body: 'x'.repeat(65_536) })).status).toBe(200);
    const upload = (size: number, path = '/admin/billing/import') =>
      balancer.send(path, { method: 'POST', body: 'x'.repeat(size) });
    expect((await upload(2_097_152)).status).toBe(200);
    if (name === 'nginx')
      for (const answer of [upload(65_537, '/login'), upload(65_537, '/administer'), upload(2_097_153)])
        expect((await answer).status).toBe(413);
  });

  it('passes the longest hand-off on, and refuses headers of far more than 16 KiB', async () => {
    const handOff = `/sso/marketplace/callback?payload=${'p'.repeat(8_192)}&signature=${'0'.repeat(64)}`;
    expect((await balancer.send(handOff)).status).toBe(200);
    const answer = await balancer.send('/', { headers: { 'x-long': 'x'.repeat(40_000) } });
    expect([400, 431]).toContain(answer.status);
    expect(got.map(({ url }) => url)).toEqual([handOff]);
  });

  it('takes an answer with 18 KiB of headers, and lets the service refuse a request with more than 16 KiB', async () => {
    handle = answerAtLength;
    expect((await balancer.send('/profile')).status).toBe(303);
    const { status } = await balancer.send('/profile', { headers: { cookie: `many=${'x'.repeat(20_000)}` } });
    expect([status, got.length]).toEqual([431, 2]);
  });

  describe('a request whose instance dies under it', () => {
    it.each([
      ['GET', '/sso/launch/marketplace', true],
      ['GET', '/sso/marketplace/callback?payload=p', false],
      ['POST', '/profile', false],
    ])('%s %s is sent as often as does no harm', async (method, path, isSentAgain) => {
      handle = (request) => request.socket.destroy();
      expect((await balancer.send(path, { method })).status).toBe(502);
      expect(got.length > 1, String(got.length)).toBe(isSentAgain);
      handle = answerOk;
      // Some time after a failure, the proxy sends requests to the instance anew.
      await vi.waitFor(async () => expect((await balancer.send('/')).status).toBe(200), {
        timeout: 20_000,
        interval: 500,
      });
    });
  });

  it('lets a client wait for 25 seconds, but not dribble a request for ever', async () => {
    handle = (_, answer) => setTimeout(() => answer.end('[]'), 25_000);
    const waited = balancer.send('/sso/events?wait=25');
    const socket = connect({
      host: '127.0.0.1',
      port: balancer.port,
      servername: 'localhost',
      rejectUnauthorized: false,
    });
    const startedAt = performance.now();
    socket.on('error', () => undefined).resume();
    const closed = new Promise<number>((done) =>
      socket.on('close', () => done(performance.now() - startedAt)),
    );
    socket.write(`GET / HTTP/1.1\r\nHost: localhost:${balancer.port}\r\nX-Slow: `);
    const drip = setInterval(() => socket.write('x'), 500);
    expect(await closed).toBeLessThan(20_000);
    clearInterval(drip);
    expect(await waited).toMatchObject({ status: 200, text: '[]' });
    expect(got).toHaveLength(1);
  }, 60_000);

  it.runIf(name === 'Caddy')(
    'passes on what the service says to a request that is sent too slowly',
    async () => {
      // Answers 408 after 12 seconds. The service does so after 10 to 12 seconds.
      handle = (_, answer) => setTimeout(() => answer.writeHead(408).end(), 12_000);
      const socket = connect({
        host: '127.0.0.1',
        port: balancer.port,
        servername: 'localhost',
        rejectUnauthorized: false,
      });
      let said = '';
      socket
        .on('error', () => undefined)
        .on('data', (text) => {
          said += text;
        });
      socket.write(
        `POST /integrations/crm/signups HTTP/1.1\r\nHost: localhost:${balancer.port}\r\nContent-Length: 600\r\n\r\n`,
      );
      const drip = setInterval(() => socket.write('x'), 500);
      await vi.waitFor(() => expect(said).toMatch(/^HTTP\/1\.1 /), 30_000);
      clearInterval(drip);
      socket.destroy();
      expect(said).toMatch(/^HTTP\/1\.1 408 /);
    },
    60_000,
  );

  it('logs no query', async () => {
    await balancer.send('/sso/marketplace/callback?payload=secret');
    const log = 'readAccessLog' in balancer ? await (balancer as Nginx).readAccessLog() : balancer.output();
    expect(log).not.toContain('secret');
    if (name === 'nginx') expect(log).toContain('"GET /sso/marketplace/callback HTTP/1.1" 200');
  });

  it.runIf(name === 'nginx')(
    'lets fifty logins with a password be under way at each instance, refuses more itself, and leaves all else alone',
    async () => {
      const places = 2 * 50;
      const send = (path: string) => balancer.send(path, { method: 'POST', body: 'email=e&password=p' });
      const waiting: ServerResponse[] = [];
      handle = holdLogins(waiting);
      const held = Array.from({ length: places }, (_, n) => send(spellLogin(n)));
      await vi.waitFor(() => expect(waiting).toHaveLength(places), 20_000);
      for (const { status, headers, text } of await Promise.all(
        Array.from({ length: 16 }, () => send('/login')),
      )) {
        expect([status, headers['retry-after'], headers['cache-control']]).toEqual([503, '2', 'no-store']);
        expect(text).toContain('<h1>We cannot log you in right now</h1>');
      }
      expect(waiting).toHaveLength(places);
      for (const path of [
        '/login?with=passkey',
        '/login?next=%2Fprofile&with=passkey',
        '/login/code',
        '/signup',
      ])
        expect((await send(path)).status).toBe(200);
      for (const path of ['/login', '/profile']) expect((await balancer.send(path)).status).toBe(200);
      for (const answer of waiting) answer.end('ok');
      handle = answerOk;
      expect((await Promise.all(held)).filter(({ status }) => status !== 200)).toEqual([]);
      expect((await send('/login')).status).toBe(200);
    },
  );

  it.runIf(name === 'Caddy')(
    'lets twenty logins with a password be under way at each instance, keeps more in line, and leaves all else alone',
    async () => {
      const places = 2 * 20;
      const send = (path: string) => balancer.send(path, { method: 'POST', body: 'email=e&password=p' });
      const waiting: ServerResponse[] = [];
      handle = holdLogins(waiting);
      const sent = Array.from({ length: places + 16 }, (_, n) => send(spellLogin(n)));
      await vi.waitFor(() => expect(waiting).toHaveLength(places), 20_000);
      for (const path of [
        '/login?with=passkey',
        '/login?next=%2Fprofile&with=passkey',
        '/login/code',
        '/signup',
      ])
        expect((await send(path)).status).toBe(200);
      for (const path of ['/login', '/profile']) expect((await balancer.send(path)).status).toBe(200);
      expect(waiting).toHaveLength(places);
      handle = answerOk;
      for (const answer of waiting) answer.end('ok');
      expect((await Promise.all(sent)).filter(({ status }) => status !== 200)).toEqual([]);
    },
  );

  it.runIf(name === 'Caddy')(
    'refuses logins once the line is three seconds long, and nothing else',
    async () => {
      const waiting: ServerResponse[] = [];
      handle = holdLogins(waiting);
      const send = () => balancer.send('/login', { method: 'POST', body: 'email=e&password=p' });
      const sent = Array.from({ length: 60 }, send);
      const refused: (string | string[] | undefined)[] = [];
      const askOften = setInterval(
        () =>
          void send().then(({ status, headers }) => status === 503 && refused.push(headers['retry-after'])),
        500,
      );
      await vi.waitFor(() => expect(refused[0]).toBe('2'), 20_000);
      clearInterval(askOften);
      expect((await balancer.send('/profile')).status).toBe(200);
      handle = answerOk;
      for (const answer of waiting) answer.end('ok');
      expect((await Promise.all(sent)).filter(({ status }) => status !== 200)).toEqual([]);
      await vi.waitFor(async () => expect((await send()).status).toBe(200), {
        timeout: 20_000,
        interval: 500,
      });
    },
  );

  it.runIf(name === 'Caddy')('a login that is sent slowly keeps no place at an instance', async () => {
    const session = http2(`https://localhost:${balancer.port}`, { rejectUnauthorized: false });
    // Sends as much as the proxy accepts, so that the proxy's buffer is full.
    for (let n = 0; n < 60; n++) {
      const stream = session.request({ ':method': 'POST', ':path': '/login' });
      stream.on('error', () => undefined).write('x'.repeat(n % 2 ? 16_384 : 1));
    }
    await new Promise((done) => session.ping(done));
    const send = () => balancer.send('/login', { method: 'POST', body: 'email=e&password=p' });
    for (let n = 0; n < 60; n++) expect((await send()).status).toBe(200);
    expect(got).toHaveLength(60);
    session.destroy();
  });

  it('a login whose answer nobody reads keeps no place at an instance', async () => {
    handle = (request, answer) => request.resume().on('end', () => answer.end('x'.repeat(25_000)));
    const closing: { close: () => void }[] = [];
    for (const round of [1, 2, 3]) {
      const unread = await logInUnread(balancer, 50);
      await vi.waitFor(() => expect(got).toHaveLength(round * 50), 20_000);
      closing.push(unread);
    }
    expect((await balancer.send('/login', { method: 'POST', body: 'email=e&password=p' })).status).toBe(200);
    for (const { close } of closing) close();
  });

  it.runIf(name === 'Caddy')('sends nothing to an instance that is not ready', async () => {
    areReady = [false, true];
    const first = portOf(0);
    await vi.waitFor(
      async () => {
        got = [];
        for (let n = 0; n < 6; n++) await balancer.send('/');
        expect(got.map(({ socket }) => socket.localPort)).not.toContain(first);
      },
      { timeout: 20_000, interval: 500 },
    );
    areReady = [false, false];
    await vi.waitFor(
      async () => {
        const answer = await balancer.send('/');
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2']);
      },
      { timeout: 20_000, interval: 500 },
    );
  });

  it.runIf(name === 'nginx')(
    'loses no request to a port that is closed, but three hand-offs at most',
    async () => {
      servers[0]?.closeAllConnections();
      await new Promise((done) => servers[0]?.close(done));
      const answers = [];
      for (let n = 0; n < 20; n++)
        answers.push(await balancer.send('/profile', { method: n % 2 ? 'POST' : 'GET' }));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      // After three failures, the proxy sends no requests to the instance for ten seconds.
      const statuses = [];
      for (let n = 0; n < 20; n++)
        statuses.push((await balancer.send('/sso/marketplace/callback?payload=p')).status);
      const lost = statuses.filter((status) => status !== 200);
      expect(lost.length).toBeLessThanOrEqual(3);
      expect(lost.filter((status) => status !== 502)).toEqual([]);
      expect(balancer.output()).toContain('temporarily disabled');
    },
  );
});

// What the balancer of docs/operate/files/haproxy.cfg does with requests. Two servers of the test take the place of the
// service.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  answerAtLength,
  type Balancer,
  closeServers,
  holdLogins,
  logInUnread,
  spellLogin,
  startBalancer,
} from '../support/machines/balancer.ts';

type Handle = (request: IncomingMessage, answer: ServerResponse) => void;
const answerOk: Handle = (_, answer) => answer.end('ok');

let isReady = true;
let handle = answerOk;
let got: IncomingMessage[] = [];
const servers = [0, 1].map(() =>
  createServer({ maxHeaderSize: 65_536 }, (request, answer) => {
    if (request.url === '/readyz') {
      answer.writeHead(isReady ? 200 : 503).end();
      return;
    }
    got.push(request);
    handle(request, answer);
  }),
);

let balancer: Balancer;
beforeAll(async () => {
  await Promise.all(
    servers.map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
  );
  const [one, two] = servers.map((server) => (server.address() as AddressInfo).port);
  balancer = await startBalancer([one ?? 0, two ?? 0], { 'rise 1 maxconn 200': 'rise 1 maxconn 2' });
});
afterAll(async () => {
  await balancer?.close();
  closeServers(servers);
});
beforeEach(() => {
  handle = answerOk;
  got = [];
});

it('says who asks, whatever the visitor says', async () => {
  await balancer.send('/', { headers: { 'x-forwarded-for': '192.0.2.66' } });
  expect(got.map(({ headers }) => headers['x-forwarded-for'])).toEqual(['127.0.0.1']);
});

it('logs no query', async () => {
  await balancer.send('/sso/marketplace/callback?payload=secret');
  const isLogged = () => expect(balancer.output()).toMatch(/ GET \/sso\/marketplace\/callback HTTP\/1\.1/);
  await vi.waitFor(isLogged, 10_000);
  expect(balancer.output()).not.toContain('secret');
});

it('refuses a body of more than 64 KiB, or of more than 2 MiB below /admin', async () => {
  handle = (request, answer) => request.resume().on('end', () => answer.end('ok'));
  const answer = await balancer.send('/profile', { method: 'POST', body: 'x'.repeat(65_537) });
  expect([answer.status, got.length]).toEqual([413, 0]);
  expect((await balancer.send('/profile', { method: 'POST', body: 'x'.repeat(65_536) })).status).toBe(200);
  const upload = (size: number) =>
    balancer.send('/admin/billing/import', { method: 'POST', body: 'x'.repeat(size) });
  expect([(await upload(2_097_152)).status, (await upload(2_097_153)).status]).toEqual([200, 413]);
  expect((await balancer.send('/administer', { method: 'POST', body: 'x'.repeat(65_537) })).status).toBe(413);
});

it('takes an answer with 18 KiB of headers, and lets the service refuse a request with more than 16 KiB', async () => {
  handle = answerAtLength;
  expect((await balancer.send('/profile')).status).toBe(303);
  const { status } = await balancer.send('/profile', { headers: { cookie: `many=${'x'.repeat(20_000)}` } });
  expect([status, got.length]).toEqual([431, 2]);
});

describe('a request whose instance dies under it', () => {
  it.each([
    ['GET', '/sso/launch/marketplace', 3],
    ['GET', '/sso/marketplace/callback?payload=p', 1],
    ['POST', '/profile', 1],
  ])('%s %s is sent as often as does no harm', async (method, path, times) => {
    handle = (request) => request.socket.destroy();
    expect((await balancer.send(path, { method })).status).toBe(502);
    expect(got).toHaveLength(times);
  });
});

it('drops a client that does not finish a request in ten seconds', async () => {
  const startedAt = performance.now();
  const socket = connect({ host: '127.0.0.1', port: balancer.port, rejectUnauthorized: false });
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write('POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n');
  const drip = setInterval(() => socket.write('x'), 500);
  await new Promise<void>((done) => socket.on('close', () => done()).on('error', () => undefined));
  clearInterval(drip);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(got).toEqual([]);
}, 30_000);

it('lets nobody wait long for a place at an instance, and says when to come again', async () => {
  const waiting: ServerResponse[] = [];
  handle = (_, answer) => waiting.push(answer);
  const held = Array.from({ length: 4 }, () => balancer.send('/'));
  await vi.waitFor(() => expect(waiting).toHaveLength(4), 10_000);
  const answer = await balancer.send('/');
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('2');
  for (const one of waiting) one.end('ok');
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

describe('a login with a password', () => {
  const places = 2 * 20;
  const send = (path: string, body = 'email=e&password=p') => balancer.send(path, { method: 'POST', body });
  const hold = async () => {
    const waiting: ServerResponse[] = [];
    handle = holdLogins(waiting);
    const held = Array.from({ length: places }, (_, n) => send(spellLogin(n)));
    await vi.waitFor(() => expect(waiting).toHaveLength(places), 20_000);
    return { waiting, held };
  };

  it('finds twenty places at each instance, waits a second for one, and is told to come again', async () => {
    const { waiting, held } = await hold();
    const more = await Promise.all(Array.from({ length: 16 }, () => send('/login')));
    expect(new Set(more.map(({ status }) => status))).toEqual(new Set([503]));
    expect(waiting).toHaveLength(places);
    expect(more[0]?.headers).toMatchObject({ 'retry-after': '2', 'cache-control': 'no-store' });
    expect(more[0]?.text).toContain('<h1>Too many people are logging in right now</h1>');
    const last = send('/login');
    for (const answer of waiting) answer.end('ok');
    handle = answerOk;
    expect((await Promise.all([...held, last])).map(({ status }) => status)).toEqual([
      ...held.map(() => 200),
      200,
    ]);
  });

  it('takes no place of anything else, nor of a login with a passkey', async () => {
    const { waiting, held } = await hold();
    for (const path of [
      '/login?with=passkey',
      '/login?next=%2Fprofile&with=passkey',
      '/login/code',
      '/signup',
    ])
      expect((await send(path)).status).toBe(200);
    for (const path of ['/login', '/sso/launch/marketplace'])
      expect((await balancer.send(path)).status).toBe(200);
    for (const answer of waiting) answer.end('ok');
    await Promise.all(held);
  });

  it('keeps no place at an instance while its sender is slow, or does not read the answer', async () => {
    handle = (request, answer) => request.resume().on('end', () => answer.end('x'.repeat(25_000)));
    // The balancer refuses a body that is longer than 16 KiB.
    expect((await send('/login', 'x'.repeat(20_000))).status).toBe(413);
    const unread = await logInUnread(balancer, 2 * places);
    await vi.waitFor(() => expect(got).toHaveLength(2 * places), 20_000);
    const socket = connect({ host: '127.0.0.1', port: balancer.port, rejectUnauthorized: false });
    socket.on('error', () => undefined);
    socket.write('POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx');
    expect((await send('/login')).status).toBe(200);
    expect(got).toHaveLength(2 * places + 1);
    unread.close();
    socket.destroy();
  });
});

it('lets the service itself say that it is not ready, if no instance is', async () => {
  handle = (_, answer) => answer.writeHead(503, { 'retry-after': '5' }).end('a page of its own');
  isReady = false;
  await vi.waitFor(
    () => expect(balancer.output()).toMatch(/backend instances has no server available/),
    20_000,
  );
  const answer = await balancer.send('/profile');
  expect(answer).toMatchObject({ status: 503, text: 'a page of its own' });
  expect(answer.headers['retry-after']).toBe('5');
  isReady = true;
});

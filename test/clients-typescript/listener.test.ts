// The listener of the kit for TypeScript, in Node's own server, keeps running whatever requests arrive.
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildKit } from '../support/clients/kit-vectors.ts';

const origin = 'https://marketplace.example.test';
const said: unknown[] = [];
let handle: (request: Request) => Promise<Response> | Response;
const listener = buildKit().identity.createListener(
  (request) => handle(request),
  (error) => said.push(error),
);
const server = createServer(listener);
let port: number;
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((done) => server.close(done)));
beforeEach(() => {
  said.length = 0;
});

const send = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${port}${path}`, init);

/** Sends `text` as it is. Returns the answer when the server closes the connection, or when the answer matches `until`. */
function sendRaw(text: string, until: RegExp): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1');
  let said = '';
  return new Promise((done, fail) => {
    socket.on('error', fail).on('close', () => done(said));
    socket.on('data', (chunk) => {
      said += chunk;
      if (until.test(said)) socket.destroy();
    });
    socket.write(text);
  });
}

it('hands on method, path, query, headers and body, and no address but the configured one', async () => {
  handle = async (request) =>
    Response.json([request.method, request.url, request.headers.get('x-one'), await request.text()]);
  const answer = await send('//evil.example/a%2Fb?x=1&x=2', {
    method: 'POST',
    body: 'ü'.repeat(100_000),
    headers: { 'x-one': '1', host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  });
  const url = `${origin}//evil.example/a%2Fb?x=1&x=2`;
  expect(await answer.json()).toEqual(['POST', url, '1', 'ü'.repeat(100_000)]);
});

it('sends status, headers, each cookie of its own, and bytes as they are', async () => {
  handle = () => {
    const headers = new Headers({ 'X-One': '1' });
    for (const cookie of ['a=1; Path=/', 'b=2; Expires=Thu, 01 Jan 2026 00:00:00 GMT'])
      headers.append('Set-Cookie', cookie);
    return new Response(new Uint8Array([0, 255, 10]), { status: 418, headers });
  };
  const answer = await send('/');
  expect([answer.status, answer.headers.get('x-one')]).toEqual([418, '1']);
  expect(answer.headers.getSetCookie()).toEqual([
    'a=1; Path=/',
    'b=2; Expires=Thu, 01 Jan 2026 00:00:00 GMT',
  ]);
  expect(new Uint8Array(await answer.arrayBuffer())).toEqual(new Uint8Array([0, 255, 10]));
  expect((await send('/', { method: 'HEAD' })).status).toBe(418);
});

it.each([
  ['TRACE / HTTP/1.1', 400],
  ['GET http://evil.example/ HTTP/1.1', 400],
  ['OPTIONS * HTTP/1.1', 400],
  ['GET // HTTP/1.1', 200],
  ['GET /%zz?%ff#x HTTP/1.1', 200],
  ['GET /:99999/ HTTP/1.1', 200],
])('goes on after %s', async (line, status) => {
  handle = ({ url }) => new Response(new URL(url).origin);
  const said = await sendRaw(`${line}\r\nHost: evil.example:99999\r\nConnection: close\r\n\r\n`, /^$/);
  expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(await (await send('/')).text()).toBe(origin);
});

it('answers 500 where the site throws, says why in its log only, and goes on', async () => {
  for (const throws of [
    () => Promise.reject(new Error('the password')),
    () => {
      throw new Error('the password');
    },
  ]) {
    handle = throws;
    const answers = await Promise.all(Array.from({ length: 16 }, () => send('/')));
    expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(500));
    for (const answer of answers) expect(await answer.text()).toBe('');
  }
  expect(said.map(String)).toEqual(Array(32).fill('Error: the password'));
  handle = () => new Response('on');
  expect(await (await send('/')).text()).toBe('on');
});

it('in Express, leaves what the site throws to it, and takes the whole path', async () => {
  const error = new Error('away');
  handle = () => Promise.reject(error);
  const passed: unknown[] = [];
  const incoming = { method: 'GET', url: '/login', headers: {}, complete: true } as IncomingMessage;
  await listener(incoming, {} as never, (given) => passed.push(given));
  handle = ({ url }) => {
    throw url;
  };
  Object.assign(incoming, { originalUrl: '/shop/login?x=1' });
  await listener(incoming, {} as never, (given) => passed.push(given));
  expect([...passed, ...said]).toEqual([error, `${origin}/shop/login?x=1`]);
});

it('takes no address that would make the host another one', async () => {
  handle = () => expect.unreachable();
  const outgoing = { statusCode: 0, setHeader() {}, appendHeader() {}, end() {} };
  for (const url of ['.evil.example/', ':443@evil.example/', '@evil.example/', 'x', '*', '']) {
    outgoing.statusCode = 0;
    const incoming = { method: 'GET', url, headers: {}, complete: true } as IncomingMessage;
    await listener(incoming, outgoing);
    expect(outgoing.statusCode, url).toBe(400);
  }
  expect(said).toEqual([]);
});

it('reads no more of a body than the site does, and keeps no connection for the rest', async () => {
  handle = async ({ body }) => {
    const first = await body?.getReader().read();
    return new Response(first?.value?.length ? 'enough' : 'nothing');
  };
  const answer = await new Promise<IncomingMessage>((done, fail) => {
    const sent = ask({ port, host: '127.0.0.1', method: 'POST', path: '/' }, done).on('error', fail);
    sent.write('x');
  });
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close']);
  answer.destroy();
});

it('goes on where something else has answered meanwhile, and where `onError` throws', async () => {
  const late = buildKit().identity.createListener(
    () => new Response('late'),
    () => {
      throw new Error('the log is away');
    },
  );
  const outcomes: Promise<void>[] = [];
  const hasty = createServer((incoming, outgoing) => {
    outgoing.writeHead(504).end();
    outcomes.push(late(incoming, outgoing));
  });
  await new Promise<void>((done) => hasty.listen(0, '127.0.0.1', done));
  const answer = await fetch(`http://127.0.0.1:${(hasty.address() as AddressInfo).port}/`);
  await new Promise((done) => hasty.close(done));
  expect([answer.status, await Promise.all(outcomes)]).toEqual([504, [undefined]]);
});

// Contract 8.36 and 8.123: local mode answers only to names of this machine. A site can point its own name at this machine (DNS
// rebinding).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import type { Listener } from '../../server/runtime/listener.ts';
import { openApp, openProductionApp } from '../support/app/app.ts';
import { exchange } from '../support/app/raw-http.ts';
import { shared } from '../support/run/shared.ts';

let customer: string;
let listener: Listener;
const app = shared(openApp);
beforeAll(async () => {
  customer = await app.login('customer@example.test');
  listener = await listen(app.fetch, { host: '127.0.0.1', port: 0 });
});
afterAll(() => listener.close(0));

const here = [
  'localhost',
  'LOCALHOST:3000',
  'id.localhost:3000',
  '127.0.0.1:3000',
  '127.9.9.9',
  '[::1]:3000',
];
const elsewhere = [
  ...['evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example:3000'],
  ...[
    'evil-localhost',
    'localhost.',
    '0.0.0.0:3000',
    '192.168.0.1:3000',
    '[::]:3000',
    '[fe80::1]',
    '',
    ':3000',
  ],
  ...['localhost@evil.example', 'localhost:3000@evil.example', 'evil.example/localhost', '::1'],
];
const paths = ['/', '/login', '/profile', '/sso/profile', '/sso/launch/crm_app', '/dev/mail'];
paths.push('/demo/crm_app', '/trpc/profile.get', '/healthz', '/assets/none.js', '/nowhere', '/%ff');

describe('local mode', () => {
  it.each(here)('answers to the Host %s', async (host) => {
    const answer = await app.send('/sso/profile', { cookie: customer, headers: { host } });
    expect(answer.status).toBe(200);
    if (host.startsWith('[')) return;
    const addressed = await app.send(`http://${host}/sso/profile`, { cookie: customer });
    expect(addressed.status).toBe(200);
  });

  it.each(elsewhere)('refuses the Host "%s" at every path, without a page or a payload', async (host) => {
    for (const path of paths) {
      const answer = await app.send(path, { cookie: customer, headers: { host, accept: 'text/html' } });
      expect(answer.status, path).toBe(400);
      expect(answer.headers.get('content-type'), path).toBe('application/problem+json');
      expect(JSON.parse(answer.text)).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('http://localhost:3000'),
      });
      expect(answer.headers.get('location')).toBeNull();
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
  });

  it('refuses such a host in the address too, whatever Host says', async () => {
    for (const path of paths) {
      const headers = { host: 'localhost:3000', accept: 'text/html' };
      const answer = await app.send(`http://evil.example:3000${path}`, { cookie: customer, headers });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    }
  });

  it('changes nothing for a site that is one origin with its own name', async () => {
    const form = { email: 'customer@example.test', password: 'local demo password' };
    for (const origin of ['http://evil.example:3000', 'http://localhost:3000']) {
      const headers = { host: 'evil.example:3000', origin, 'sec-fetch-site': 'same-origin' };
      const answer = await app.send('http://evil.example:3000/login', { form, headers });
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([400, null]);
    }
  });

  it('refuses them over a socket too', async () => {
    for (const [target, host] of [
      ['/healthz', 'evil.example:3000'],
      ['/healthz', '127.0.0.1.evil.example'],
      ['http://evil.example/healthz', 'localhost:3000'],
    ])
      expect(
        await exchange(listener.port, `GET ${target} HTTP/1.1\r\nHost: ${host}`),
        `${target} ${host}`,
      ).toMatch(/^HTTP\/1.1 400 /);
    expect(await exchange(listener.port, 'GET /healthz HTTP/1.1\r\nHost: localhost:3000')).toMatch(
      /^HTTP\/1.1 200 /,
    );
  });
});

it('production leaves the Host to the proxy in front', async () => {
  const live = await openProductionApp();
  for (const host of ['app:3000', 'evil.example'])
    expect((await live.send('/healthz', { headers: { host } })).status).toBe(200);
  await live.close();
});

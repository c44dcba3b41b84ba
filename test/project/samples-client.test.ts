// The client that docs/integrate.md has its readers build, part by part and as a whole.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { locationOf, openApp, type TestApp } from '../support/app.ts';
import { findFreePort } from '../support/process.ts';
import { importSample } from '../support/run-sample.ts';
import { clientSample, ownMachineSample, serverSample, verifierSample } from '../support/samples.ts';

const shop = 'https://shop.example.test';
const secret = 'a-secret-of-the-shop-for-this-test';
const baseUrl = 'http://localhost:3000';
let app: TestApp;
beforeAll(async () => {
  const callback = { SSO_SHOP_CALLBACK_URL: `${shop}/sso/callback` };
  app = await openApp({ env: { SSO_CLIENTS: 'shop', SSO_SHOP_SECRET: secret, ...callback } });
});
afterAll(() => app.close());

describe('its callback', async () => {
  const modules = { './verify-hand-off.mjs': verifierSample };
  const { startLogin, handleCallback } = await importSample(clientSample, modules);
  const nonces = new Set<string>();
  const logged: string[] = [];

  const cookieOf = (response: Response) => response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const locationIn = ({ status, headers }: Response) => [status, headers.get('location')];

  function receive(url: string, cookie: string, options: RequestInit = {}): Promise<Response> {
    const request = new Request(url, { ...options, headers: { cookie, ...options.headers } });
    return handleCallback(request, {
      issuer: baseUrl,
      client: 'shop',
      secrets: [secret],
      consumeNonce: async (nonce: string) => nonces.size < nonces.add(nonce).size,
      log: (line: string) => logged.push(line),
      startSession: async ({ email }: { email: string }) => `session-of-${email}`,
    });
  }

  /** Where the launch sends a person who is logged in. */
  async function launch(path: string): Promise<string> {
    const cookie = await app.login('customer@example.test');
    return locationOf(await app.send(path, { cookie })).href;
  }

  async function start() {
    const request = new Request(`${shop}/login?return_to=/orders`);
    const response: Response = startLogin(request, { issuer: baseUrl, client: 'shop' });
    const callback = await launch(response.headers.get('location') ?? '');
    return { callback, cookie: cookieOf(response) };
  }

  it('logs in once, and goes on to where the person wanted to go', async () => {
    const { callback, cookie } = await start();
    const response = await receive(callback, `other=1; ${cookie}`);
    expect(locationIn(response)).toEqual([303, '/orders']);
    expect(cookieOf(response)).toBe('session=session-of-customer@example.test');
    expect(locationIn(await receive(callback, cookie))).toEqual([401, null]);
    expect(logged.splice(0)).toEqual(['hand-off refused: used before']);
  });

  it('uses nothing up before the click', async () => {
    const { callback, cookie } = await start();
    expect((await receive(callback, cookie, { method: 'HEAD' })).status).toBe(204);
    const ahead = { headers: { 'sec-purpose': 'prefetch;prerender' } };
    expect((await receive(callback, cookie, ahead)).status).toBe(204);
    expect((await receive(callback, cookie)).status).toBe(303);
  });

  it('starts a login of its own for a hand-off without a state', async () => {
    const response = await receive(await launch('/sso/launch/shop'), '');
    expect(locationIn(response)).toEqual([303, '/login']);
    expect(response.headers.has('set-cookie')).toBe(false);
  });

  it('shows a page for a hand-off of another browser, and leaves it unused', async () => {
    const { callback, cookie } = await start();
    expect(locationIn(await receive(callback, 'login_other=1'))).toEqual([401, null]);
    expect(logged.splice(0)).toEqual(['hand-off refused: state unknown']);
    expect(locationIn(await receive(callback, cookie))).toEqual([303, '/orders']);
  });
});

describe('the whole', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'identity-sample-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('logs in on the machine of its reader', async () => {
    const port = await findFreePort();
    const here = (text: string) => text.replaceAll('4000', String(port));
    const settings = [...here(ownMachineSample).matchAll(/\b([A-Z_]+)=(\S+)/g)].map(
      ([, ...setting]) => setting,
    );
    const service = await app.startInstance({ env: Object.fromEntries(settings) });
    await writeFile(join(folder, 'verify-hand-off.mjs'), verifierSample);
    await writeFile(join(folder, 'login.mjs'), clientSample);
    await writeFile(join(folder, 'server.mjs'), here(serverSample));
    const child = spawn(process.execPath, [join(folder, 'server.mjs')], { stdio: 'inherit' });
    try {
      const site = `http://localhost:${port}`;
      const open = async (url: string, cookie = '') => {
        const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
        const cookies = response.headers.getSetCookie().map((text) => text.split(';')[0] ?? '');
        return { location: response.headers.get('location') ?? '', cookies, text: await response.text() };
      };
      await expect
        .poll(() => open(site).catch(() => undefined), { timeout: 10_000 })
        .toMatchObject({
          text: expect.stringContaining('href="/login"'),
        });
      const start = await open(`${site}/login`);
      const cookie = await service.login('customer@example.test');
      const callback = locationOf(await service.send(start.location, { cookie })).href;
      const arrival = await open(callback, start.cookies.join('; '));
      expect([arrival.location, arrival.cookies.length]).toEqual(['/', 2]);
      const { text } = await open(site, arrival.cookies.join('; '));
      expect(JSON.parse(text)).toMatchObject({ email: 'customer@example.test', role: 'customer' });
    } finally {
      child.kill();
    }
  });
});

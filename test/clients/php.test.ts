// The kit for PHP: its own tests, and its example as a site of the real service. Needs the packages
// php-cli, php-sqlite3, php-pgsql and php-curl.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import type { Listener } from '../../server/runtime/listener.ts';
import { openApp, type TestApp } from '../support/app.ts';
import { appendEvents } from '../support/client-events.ts';
import { addVisitor, deletePerson } from '../support/events.ts';
import { openReadmeSite } from '../support/php-readme.ts';
import { openPhpBrowser, openPhpSite, type PhpSite } from '../support/php-site.ts';
import { findFreePort } from '../support/process.ts';
import { runPhp } from '../support/run-sample.ts';
import { submitProfile } from '../support/visitor.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const secret = 'a-secret-of-the-shop-for-this-test';
const customer = 'customer@example.test';

let app: TestApp;
let listener: Listener;
let site: PhpSite;
let issuer: string;
beforeAll(async () => {
  const [port, sitePort] = [await findFreePort(), await findFreePort()];
  issuer = `http://127.0.0.1:${port}`;
  const origin = `http://127.0.0.1:${sitePort}`;
  app = await openApp({
    env: {
      IDENTITY_ISSUER: issuer,
      SSO_CLIENTS: 'shop',
      SSO_SHOP_SECRET: secret,
      SSO_SHOP_CALLBACK_URL: `${origin}/sso/callback`,
      SSO_SHOP_LOGIN_URL: `${origin}/login`,
      SSO_SHOP_EVENTS_URL: `${origin}/identity/events`,
    },
  });
  listener = await listen(app.fetch, { host: '127.0.0.1', port });
  const env = { ISSUER: issuer, IDENTITY_SECRET: secret, SHOP_HOST: `127.0.0.1:${sitePort}` };
  site = await openPhpSite('clients/php/example.php', sitePort, env);
});
afterAll(async () => {
  await site?.close();
  await listener?.close(0);
  await app?.close();
});

/** A browser that has asked for a login, and the address that the service sends it to. */
async function startLogin(identityCookie: string) {
  const browser = openPhpBrowser(site);
  const { status, location } = await browser.go('/login?return_to=%2Forders%3Fx%3D1');
  expect([status, location.startsWith(`${issuer}/sso/launch/shop?`)]).toEqual([303, true]);
  const launch = await app.send(location, { cookie: identityCookie });
  return { browser, callback: launch.headers.get('location') ?? '' };
}

describe("the kit's own tests", () => {
  it('print nothing, on SQLite and on Postgres', async () => {
    const { hostname, port, pathname, username, password } = new URL(app.databaseUrl);
    const postgres = `pgsql:host=${hostname};port=${port};dbname=${pathname.slice(1)};user=${username};password=${password}`;
    const { stdout, stderr } = await run('php', ['-d', 'display_errors=1', 'clients/php/tests/run.php'], {
      cwd: root,
      env: { ...process.env, PDO_DSNS: postgres },
    });
    expect(stdout + stderr).toBe('');
  });

  it('need no extension but those of every PHP, and SQLite', async () => {
    const { require: needs } = JSON.parse(await readFile(join(root, 'clients/php/composer.json'), 'utf8'));
    expect(Object.keys(needs).sort()).toEqual(['ext-hash', 'ext-json', 'ext-pcre', 'php']);
  });

  it('can be required by Composer, as the README says', async () => {
    const { name, version } = JSON.parse(await readFile(join(root, 'clients/php/composer.json'), 'utf8'));
    expect(version).toMatch(/^1\.\d+\.\d+$/);
    expect(await readFile(join(root, 'clients/php/README.md'), 'utf8')).toContain(`"${name}": "^1.0"`);
  });

  it('include an example of 50 lines or fewer', async () => {
    const lines = (await readFile(join(root, 'clients/php/example.php'), 'utf8')).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(50);
  });
});

it.each([true, false])('asks by curl or by streams (%s), and follows no redirect', async (useCurl) => {
  const ask = (url: string) => {
    const http = `new Identity\\SystemHttp(timeoutSeconds: 5, useCurl: ${useCurl})`;
    return `(array) (${http})->get('${url}', ['Authorization' => 'Bearer x'])`;
  };
  const sample = `<?php\nrequire '${join(root, 'clients/php/autoload.php')}';`;
  const nowhere = `http://127.0.0.1:${await findFreePort()}/`;
  const calls = ['/sso/events', '/profile'].map((path) => ask(issuer + path));
  expect(await runPhp(sample, [...calls, ask(nowhere)])).toEqual([
    { status: 401, body: expect.stringContaining('"code":"invalid_token"') },
    { status: 303, body: expect.any(String) },
    { error: expect.stringMatching(/cannot be reached|Connection refused/) },
  ]);
});

describe('the example, at the real service,', () => {
  it('logs in, goes on to where the person wanted to go, and refuses the same hand-off again', async () => {
    const { browser, callback } = await startLogin(await app.login(customer));
    const speculative = await browser.go(callback, 'HEAD');
    expect(speculative.status).toBe(204);
    const answer = await browser.go(callback);
    expect([answer.status, answer.location]).toEqual([303, `${site.origin}/orders?x=1`]);
    expect((await browser.go('/')).text).toContain('Log out');
    const again = await browser.go(callback);
    expect([again.status, again.refusal]).toEqual([409, 'nonce_replayed']);
    expect(again.headers.get('identity-launch')).toMatch(/^[0-9a-f]{4}-[0-9a-f]{4}$/);
    expect(again.headers.get('cache-control')).toBe('no-store');
  });

  it('starts a session for exactly one of 16 requests at once', async () => {
    const { browser, callback } = await startLogin(await app.login(customer));
    const twins = Array.from({ length: 16 }, () => openPhpBrowser(site, new Map(browser.cookies)));
    const answers = await Promise.all(twins.map((twin) => twin.go(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
    const pages = await Promise.all(twins.map((twin) => twin.go('/')));
    expect(pages.filter(({ text }) => text.includes('Log out'))).toHaveLength(1);
  });

  it('shows a page for a planted hand-off, and asks for one of its own where there is no state', async () => {
    const cookie = await app.login(customer);
    const { callback } = await startLogin(cookie);
    const planted = await openPhpBrowser(site).go(callback);
    expect([planted.status, planted.refusal]).toEqual([403, 'state_unknown']);
    const unasked = await app.send('/sso/launch/shop', { cookie });
    const browser = openPhpBrowser(site);
    const { status, location } = await browser.go(unasked.headers.get('location') ?? '');
    expect([status, location]).toEqual([303, `${site.origin}/login`]);
    expect((await browser.go('/')).text).toContain('Log in');
  });

  it('shows a new name, and ends the session with the login, by events', async () => {
    const cookie = await app.login(customer);
    const { browser, callback } = await startLogin(cookie);
    await browser.go(callback);
    const name = `Ann ${Date.now()}`;
    expect(
      (await submitProfile(app.send, cookie, { intent: 'names', name, accountName: 'Ann' })).status,
    ).toBe(200);
    const soon = { timeout: 15_000, interval: 100 };
    await expect.poll(async () => (await browser.go('/')).text, soon).toContain(name);
    const late = await startLogin(cookie);
    await app.send('/logout', { method: 'POST', cookie });
    await expect.poll(async () => (await browser.go('/')).text, soon).toContain('Log in');
    const refused = await late.browser.go(late.callback);
    expect([refused.status, refused.refusal]).toEqual([403, 'session_ended']);
  });

  it('refuses a nudge that is not signed, and a method that is none of its', async () => {
    const forged = await fetch(`${site.origin}/identity/events`, {
      method: 'POST',
      body: '{"client":"shop","latest":1}',
      headers: { 'webhook-id': 'shop_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    });
    expect([forged.status, forged.headers.get('identity-refusal')]).toEqual([401, 'nudge_signature_wrong']);
    const got = await openPhpBrowser(site).go('/identity/events');
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const posted = await openPhpBrowser(site).go('/sso/callback', 'POST');
    expect([posted.status, posted.refusal]).toEqual([405, 'method_not_allowed']);
  });
});

it('the samples of its README make a login, and take nudges', async () => {
  const readme = await openReadmeSite(await findFreePort(), issuer, secret);
  try {
    const browser = openPhpBrowser(readme);
    const { location } = await browser.go('/login?return_to=%2Forders');
    const cookie = await app.login(customer);
    const launch = await app.send(location, { cookie });
    const { search } = new URL(launch.headers.get('location') ?? '');
    const answer = await browser.go(`/sso/callback${search}`);
    expect([answer.status, answer.location]).toEqual([303, `${readme.origin}/orders`]);
    expect(JSON.parse((await browser.go('/')).text)).toEqual({
      user: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sid: expect.stringMatching(/^[\w-]{22}$/),
    });
    const again = await openPhpBrowser(readme, new Map(browser.cookies)).go(`/sso/callback${search}`);
    expect([again.status, again.refusal]).toEqual([409, 'nonce_replayed']);

    const leaver = await addVisitor(app, 'shop');
    await sql`update users set name = 'Leaver' where id = ${leaver.id}`.execute(app.db);
    await app.send('/logout', { method: 'POST', cookie });
    await appendEvents(app.db, 'shop', 20, 'user.suspended');
    const nudges = await Promise.all(Array.from({ length: 16 }, () => nudge(readme, secret)));
    expect(nudges.map(({ status }) => status)).toEqual(Array(16).fill(204));
    // PHP's own web server answers when all is done. One process at a time pulls, so each event comes once.
    const done: Record<string, string> = { 'session.ended': 'endBySid', 'user.suspended': 'endByUser' };
    const expected = (await listEventTypes()).flatMap((type) => done[type] ?? []);
    expect(expected.length).toBeGreaterThan(20);
    const listCalls = async () => (await browser.go('/calls')).text.trim().split('\n');
    expect(await listCalls()).toEqual(expected);
    expect((await browser.go('/profiles')).text).toContain(leaver.id);
    await deletePerson(app.db, leaver);
    expect((await nudge(readme, secret)).status).toBe(204);
    expect(await listCalls()).toContain('forget');
    expect((await browser.go('/profiles')).text).not.toContain(leaver.id);
    expect((await nudge(readme, `${secret}!`)).headers.get('identity-refusal')).toBe('nudge_signature_wrong');
  } finally {
    await readme.close();
  }
});

/** Of the events that can be read, in order. */
async function listEventTypes(): Promise<string[]> {
  const events = app.db.selectFrom('events').select('type').where('client', '=', 'shop');
  return (await events.where('seq', 'is not', null).orderBy('seq').execute()).map(({ type }) => type);
}

function nudge({ origin }: PhpSite, key: string): Promise<Response> {
  const [id, timestamp, body] = ['shop_1', Math.floor(Date.now() / 1_000), '{"client":"shop","latest":1}'];
  const ours = createHmac('sha256', key).update('identity webhooks v1 shop').digest();
  const signature = createHmac('sha256', ours).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
  return fetch(`${origin}/identity/events`, { method: 'POST', body, headers });
}

// The kit for Python: its own tests, and its example as a site of the real service. Needs python3, and nothing else of Python.
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import type { Listener } from '../../server/runtime/listener.ts';
import { openApp, type TestApp } from '../support/app.ts';
import { cloneDatabase } from '../support/postgres.ts';
import { findFreePort } from '../support/process.ts';
import { submitProfile } from '../support/visitor.ts';

const run = promisify(execFile);
const kit = fileURLToPath(new URL('../../clients/python/', import.meta.url));
const secret = 'a-secret-for-my-machine';
// Nothing is left behind beside the sources.
const env = {
  ...process.env,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONPATH: [kit, process.env.PYTHONPATH ?? ''].join(delimiter),
};
const hasPsycopg = await run('python3', ['-c', 'import psycopg']).then(
  () => true,
  () => false,
);

describe('the kit', () => {
  it('passes its own tests, every vector among them, without a warning', async () => {
    const words = ['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'];
    const { stdout, stderr } = await run('python3', words, { cwd: kit, env });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^[.s]+\n-+\nRan \d{2,} tests in [\d.]+s\n\nOK(?: \(skipped=\d\))?\n$/);
  });

  it.runIf(hasPsycopg)('keeps in Postgres, too, what it has to remember', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const words = ['-W', 'error', '-m', 'unittest', '-v', 'tests.test_stores'];
    try {
      const { stderr } = await run('python3', words, {
        cwd: kit,
        env: { ...env, IDENTITY_TEST_POSTGRES: url },
      });
      expect(stderr).toMatch(/\nOK\n$/);
    } finally {
      await drop();
    }
  });

  it('needs nothing but Python', async () => {
    expect(await readFile(join(kit, 'pyproject.toml'), 'utf8')).toContain('dependencies = []\n');
    const imports = await run('grep', ['-rhoE', '^ *(from|import) [a-z0-9_]+', `${kit}identity_client`]);
    const modules = imports.stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(' ')[1] ?? '');
    const code = `import sys; print(all(name in sys.stdlib_module_names for name in ${JSON.stringify(modules)}))`;
    expect((await run('python3', ['-c', code])).stdout).toBe('True\n');
  });

  it('has an example of 50 lines or fewer', async () => {
    expect(
      (await readFile(join(kit, 'example.py'), 'utf8')).trimEnd().split('\n').length,
    ).toBeLessThanOrEqual(50);
  });
});

describe('the example, at the real service,', () => {
  let app: TestApp;
  let listener: Listener;
  let site: Awaited<ReturnType<typeof openSite>>;
  let issuer: string;
  beforeAll(async () => {
    const [port, sitePort] = [await findFreePort(), await findFreePort()];
    issuer = `http://localhost:${port}`;
    const origin = `http://localhost:${sitePort}`;
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
    listener = await listen(app.fetch, { host: 'localhost', port });
    site = await openSite(port, sitePort);
  });
  afterAll(async () => {
    await site?.close();
    await listener?.close(0);
    await app?.close();
  });

  async function openSite(port: number, sitePort: number) {
    const folder = await mkdtemp(join(tmpdir(), 'identity-python-'));
    const example = await readFile(join(kit, 'example.py'), 'utf8');
    const file = join(folder, 'example.py');
    const moved = example.replaceAll(/[34]000/g, (found) => String(found === '4000' ? sitePort : port));
    await writeFile(file, moved);
    const child = spawn('python3', [file], { env });
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const exited = new Promise((done) => child.once('close', done));
    const origin = `http://localhost:${sitePort}`;
    async function close() {
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    }
    const deadline = Date.now() + 30_000;
    while (!(await fetch(origin).catch(() => undefined))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        await close();
        throw new Error(`the example did not start:\n${output}`);
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    return { origin, output: () => output, close };
  }

  /** A browser at the example, with its cookies. */
  function openBrowser(cookies = new Map<string, string>()) {
    return {
      cookies,
      async go(path: string, method = 'GET') {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(new URL(path, site.origin), {
          method,
          headers: { cookie },
          redirect: 'manual',
        });
        for (const line of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (line.includes('Max-Age=0;')) cookies.delete(name);
          else cookies.set(name, value);
        }
        const { status, headers } = response;
        return { status, headers, location: headers.get('location') ?? '', text: await response.text() };
      },
    };
  }

  /** A browser that has asked for a login, and the address that the service sends it to. */
  async function startLogin(identityCookie: string, browser = openBrowser()) {
    const { status, location } = await browser.go('/login?return_to=%2Forders%3Fx%3D1');
    expect([status, location.startsWith(`${issuer}/sso/launch/shop?`)]).toEqual([303, true]);
    const launched = await app.send(location, { cookie: identityCookie });
    return { browser, callback: launched.headers.get('location') ?? '' };
  }

  const customer = () => app.login('customer@example.test');
  const soon = { timeout: 15_000, interval: 100 };

  it('logs in, goes on to where the person wanted to go, and refuses the same hand-off again', async () => {
    const { browser, callback } = await startLogin(await customer());
    expect((await browser.go(callback, 'HEAD')).status).toBe(204);
    const answer = await browser.go(callback);
    expect([answer.status, answer.location]).toEqual([303, `${site.origin}/orders?x=1`]);
    expect((await browser.go('/')).text).toContain('Hello, ');
    const again = await browser.go(callback);
    expect([again.status, again.headers.get('identity-refusal')]).toEqual([409, 'nonce_replayed']);
    expect(again.headers.get('identity-launch')).toMatch(/^[0-9a-f]{4}-[0-9a-f]{4}$/);
    const logged = `nonce_replayed, launch ${again.headers.get('identity-launch')}: no details\n`;
    await expect.poll(site.output, soon).toContain(logged);
  });

  it('logs in from two tabs, in either order', async () => {
    const cookie = await customer();
    const first = await startLogin(cookie);
    const second = await startLogin(cookie, first.browser);
    for (const { browser, callback } of [second, first])
      expect((await browser.go(callback)).status).toBe(303);
  });

  it('starts a session for exactly one of 16 requests at once', async () => {
    const { browser, callback } = await startLogin(await customer());
    const twins = Array.from({ length: 16 }, () => openBrowser(new Map(browser.cookies)));
    const answers = await Promise.all(twins.map((twin) => twin.go(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
    const pages = await Promise.all(twins.map((twin) => twin.go('/')));
    expect(pages.filter(({ text }) => text.includes('Hello'))).toHaveLength(1);
  });

  it('shows a page for a planted hand-off, and asks for one of its own where there is no state', async () => {
    const cookie = await customer();
    const { callback } = await startLogin(cookie);
    const planted = await openBrowser().go(callback);
    expect([planted.status, planted.headers.get('identity-refusal')]).toEqual([403, 'state_unknown']);
    const unasked = await app.send('/sso/launch/shop', { cookie });
    const { status, location } = await openBrowser().go(unasked.headers.get('location') ?? '');
    expect([status, location]).toEqual([303, `${site.origin}/login`]);
  });

  it('shows a new name, and ends the session with the login, by events', async () => {
    const cookie = await customer();
    const { browser, callback } = await startLogin(cookie);
    await browser.go(callback);
    const late = await startLogin(cookie);
    const name = `Ann ${Date.now()}`;
    const edit = await submitProfile(app.send, cookie, { intent: 'names', name, accountName: 'Ann' });
    expect(edit.status).toBe(200);
    await expect.poll(async () => (await browser.go('/')).text, soon).toContain(name);
    await app.send('/logout', { method: 'POST', cookie });
    await expect.poll(async () => (await browser.go('/')).text, soon).toContain('Log in');
    const refused = await late.browser.go(late.callback);
    expect([refused.status, refused.headers.get('identity-refusal')]).toEqual([403, 'session_ended']);
  });

  it('refuses a nudge that is not signed, and a method that is none of its', async () => {
    const forged = await fetch(`${site.origin}/identity/events`, {
      method: 'POST',
      body: '{"client":"shop","latest":1}',
      headers: { 'webhook-id': 'shop_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' },
    });
    expect([forged.status, forged.headers.get('identity-refusal')]).toEqual([401, 'nudge_signature_wrong']);
    const got = await openBrowser().go('/identity/events');
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const posted = await openBrowser().go('/sso/callback', 'POST');
    expect([posted.status, posted.headers.get('identity-refusal')]).toEqual([405, 'method_not_allowed']);
  });
});

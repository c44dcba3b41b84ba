// The kit for Python: its own tests, and its example as a site of the real service. Needs python3, and nothing else of Python.
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { customer, openShop, startLogin, testExample } from '../support/clients/shop.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { shared } from '../support/run/shared.ts';

const run = promisify(execFile);
const kit = fileURLToPath(new URL('../../clients/python/', import.meta.url));
const secret = 'a-secret-for-my-machine';
// Python leaves no files beside the sources.
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
    const args = ['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'];
    const { stdout, stderr } = await run('python3', args, { cwd: kit, env });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^[.s]+\n-+\nRan \d{2,} tests in [\d.]+s\n\nOK(?: \(skipped=\d\))?\n$/);
  });

  it.runIf(hasPsycopg)('keeps in Postgres, too, what it has to remember', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const args = ['-W', 'error', '-m', 'unittest', '-v', 'tests.test_stores'];
    try {
      const { stderr } = await run('python3', args, {
        cwd: kit,
        env: { ...env, IDENTITY_TEST_POSTGRES: url },
      });
      expect(stderr).toMatch(/\nOK\n$/);
    } finally {
      await drop();
    }
  });

  it('installs from its folder with the version of VERSION (contract 13.134)', async () => {
    const version = (await readFile(join(kit, 'VERSION'), 'utf8')).trim();
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await readFile(join(kit, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${version}\n`);
    expect(await readFile(join(kit, 'pyproject.toml'), 'utf8')).toContain('version = { file = "VERSION" }');
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

  it('has an example of 30 lines or fewer', async () => {
    expect(
      (await readFile(join(kit, 'example.py'), 'utf8')).trimEnd().split('\n').length,
    ).toBeLessThanOrEqual(30);
  });
});

describe('the example, at the real service,', () => {
  const shop = shared(() =>
    openShop({ host: 'localhost', secret }, ({ port, sitePort }) => openSite(port, sitePort)),
  );

  testExample(() => shop, 'Hello, ');

  it('logs why it refuses', async () => {
    const { browser, callback } = await startLogin(shop, await shop.app.login(customer));
    await browser.go(callback);
    const again = await browser.go(callback);
    const logged = `nonce_replayed, launch ${again.headers.get('identity-launch')}: The hand-off was used before. `;
    await expect.poll(shop.site.output, { timeout: 15_000, interval: 100 }).toContain(logged);
    expect(shop.site.output()).toContain(` ${shop.issuer}/developers/refusals#nonce_replayed\n`);
  });

  it('logs out here by a form only, and goes on to the logout of the service (contract 13.127)', async () => {
    const { browser, callback } = await startLogin(shop, await shop.app.login(customer));
    await browser.go(callback);
    expect((await browser.go('/logout')).status).toBe(405);
    const [, token = ''] = /name="token" value="([0-9a-f]{64})"/.exec((await browser.go('/')).text) ?? [];
    const logOut = (sent: string) =>
      fetch(`${shop.site.origin}/logout`, {
        method: 'POST',
        headers: { cookie: [...browser.cookies].map((pair) => pair.join('=')).join('; ') },
        body: new URLSearchParams({ token: sent }),
        redirect: 'manual',
      });
    expect((await logOut('0'.repeat(64))).status).toBe(403);
    expect((await browser.go('/')).text).toContain('Hello, ');
    const { status, headers } = await logOut(token);
    expect([status, headers.get('location')]).toEqual([
      303,
      `${shop.issuer}/logout?client=shop&return_to=%2F`,
    ]);
    expect((await browser.go('/')).text).toContain('Log in');
  });
});

async function openSite(port: number, sitePort: number) {
  const its = { IDENTITY_URL: `http://shop:${secret}@localhost:${port}`, PORT: String(sitePort) };
  const child = spawn('python3', [join(kit, 'example.py')], { env: { ...env, ...its } });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const exited = new Promise((done) => child.once('close', done));
  const origin = `http://localhost:${sitePort}`;
  async function close() {
    child.kill('SIGTERM');
    await exited;
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

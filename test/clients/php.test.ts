// The kit for PHP, with its example. Needs the packages php-cli, php-sqlite3, php-pgsql and php-curl. Some tests also need
// php-nyholm-psr7, php-symfony-http-foundation, composer or php-zip, and are skipped without them.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { buildArchive } from '../../app/developers/publish/archive.ts';
import { files } from '../../app/developers/publish/published.ts';
import { findFreePort } from '../support/app/process.ts';
import { openReadmeSite } from '../support/clients/php-readme.ts';
import { openPhpSite } from '../support/clients/php-site.ts';
import { customer, openShop, openSiteBrowser, type Site, testExample } from '../support/clients/shop.ts';
import { appendEvents } from '../support/events/client-events.ts';
import { addVisitor, deletePerson } from '../support/events/events.ts';
import { runPhp } from '../support/project/run-sample.ts';
import { shared } from '../support/run/shared.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const secret = 'a-secret-of-the-shop-for-this-test';

const shop = shared(() =>
  openShop({ host: '127.0.0.1', secret }, ({ sitePort, issuer }) =>
    openPhpSite('clients/php/example.php', sitePort, {
      IDENTITY_URL: issuer.replace('//', `//shop:${secret}@`),
      ORIGIN: `http://127.0.0.1:${sitePort}`,
    }),
  ),
);

describe("the kit's own tests", () => {
  it('print nothing, on SQLite and on Postgres', async () => {
    const { hostname, port, pathname, username, password } = new URL(shop.app.databaseUrl);
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
    expect(version).toBe((await readFile(join(root, 'clients/php/VERSION'), 'utf8')).trim());
    expect(await readFile(join(root, 'clients/php/CHANGELOG.md'), 'utf8')).toContain(`## [${version}]`);
    expect(await readFile(join(root, 'clients/php/README.md'), 'utf8')).toContain(`"${name}": "^1.2"`);
  });

  it.skipIf(!existsSync('/usr/bin/composer'))(
    'install by Composer from the archive (contract 13.134)',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'identity-composer-'));
      try {
        const archive = files.find(({ name }) => name === 'identity-client-php.zip');
        if (!archive || !('folders' in archive)) throw new Error('there is no archive of the kit');
        await mkdir(join(folder, 'packages'));
        await writeFile(join(folder, 'packages', archive.name), buildArchive(archive.folders));
        const [, project = ''] = /```json\n([^`]*"artifact"[^`]*)```/.exec(
          await readFile(join(root, 'clients/php/README.md'), 'utf8'),
        ) ?? [''];
        const { repositories, ...rest } = JSON.parse(project);
        const offline = [...repositories, { 'packagist.org': false }];
        await writeFile(join(folder, 'composer.json'), JSON.stringify({ ...rest, repositories: offline }));
        const env = { ...process.env, COMPOSER_HOME: folder, COMPOSER_ALLOW_SUPERUSER: '1' };
        await run('composer', ['install', '--no-interaction', '--no-progress'], { cwd: folder, env });
        const program = "require 'vendor/autoload.php'; echo count(Identity\\Tables::describe('sqlite'));";
        expect((await run('php', ['-r', program], { cwd: folder })).stdout).toBe('5');
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    60_000,
  );

  it('include an example of fewer than 30 lines of its own', async () => {
    const lines = (await readFile(join(root, 'clients/php/example.php'), 'utf8')).split('\n');
    expect(lines.filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length).toBeLessThan(30);
  });
});

it.each([true, false])('asks by curl or by streams (%s), and follows no redirect', async (useCurl) => {
  const ask = (url: string) => {
    const http = `new Identity\\SystemHttp(timeoutSeconds: 5, useCurl: ${useCurl})`;
    return `(array) (${http})->get('${url}', ['Authorization' => 'Bearer x'])`;
  };
  const sample = `<?php\nrequire '${join(root, 'clients/php/autoload.php')}';`;
  const nowhere = `http://127.0.0.1:${await findFreePort()}/`;
  const calls = ['/sso/events', '/profile'].map((path) => ask(shop.issuer + path));
  expect(await runPhp(sample, [...calls, ask(nowhere)])).toEqual([
    { status: 401, body: expect.stringContaining('"code":"invalid_token"') },
    { status: 303, body: expect.any(String) },
    { error: expect.stringMatching(/cannot be reached|Connection refused/) },
  ]);
});

describe('the example, at the real service,', () => {
  testExample(() => shop, 'Log out');

  it('lets nothing keep a page that shows a person', async () => {
    const browser = openSiteBrowser(shop.site);
    const { location } = await browser.go('/login');
    const launch = await shop.app.send(location, { cookie: await shop.app.login(customer) });
    await browser.go(`/sso/callback${new URL(launch.headers.get('location') ?? '').search}`);
    const page = await browser.go('/');
    expect(page.text).toContain('Log out');
    expect(page.headers.get('cache-control')).toBe('no-store');
  });
});

it('the samples of its README make a login, take nudges, and log out', async () => {
  const readme = await openReadmeSite(await findFreePort(), shop.issuer, secret);
  const { app, issuer } = shop;
  const read = async (path: string) => (await openSiteBrowser(readme).go(path)).text;
  try {
    const browser = openSiteBrowser(readme);
    const cookie = await app.login(customer);
    async function logIn() {
      const { location } = await browser.go('/login?return_to=%2Forders');
      const launch = await app.send(location, { cookie });
      const { search } = new URL(launch.headers.get('location') ?? '');
      const answer = await browser.go(`/sso/callback${search}`);
      expect([answer.status, answer.location]).toEqual([303, `${readme.origin}/orders`]);
      return search;
    }
    const turnedAway = await browser.go('/orders');
    expect([turnedAway.status, turnedAway.location]).toEqual([
      303,
      `${readme.origin}/login?return_to=%2Forders`,
    ]);
    await logIn();
    const orders = await browser.go('/orders');
    expect(orders.headers.get('cache-control')).toBe('no-store');
    const [, token = ''] = /name="token" value="([0-9a-f]{64})"/.exec(orders.text) ?? [];
    const left = await sendLogout(readme, browser.cookies, token);
    expect([left.status, left.headers.get('location')]).toEqual([
      303,
      `${issuer}/logout?client=shop&return_to=%2F`,
    ]);
    expect((await browser.go('/')).text).toBe('nobody');
    expect((await sendLogout(readme, browser.cookies, token.replace(/./, 'x'))).status).toBe(403);
    const search = await logIn();
    const [session] = JSON.parse(await read('/sessions'));
    expect(session.sid).toMatch(/^[\w-]{22}$/);
    expect((await browser.go('/')).text).toBe(session.user_id);
    const again = await openSiteBrowser(readme, new Map(browser.cookies)).go(`/sso/callback${search}`);
    expect([again.status, again.refusal]).toEqual([409, 'nonce_replayed']);

    const leaver = await addVisitor(app, 'shop');
    await sql`update users set name = 'Leaver' where id = ${leaver.id}`.execute(app.db);
    await app.send('/logout', { method: 'POST', cookie });
    await appendEvents(app.db, 'shop', 20, 'user.suspended');
    const nudges = await Promise.all(Array.from({ length: 16 }, () => nudge(readme, secret)));
    expect(nudges.map(({ status }) => status)).toEqual(Array(16).fill(204));
    // PHP's own web server answers a nudge only after the pull has ended, so all events are applied now. One process at a time
    // pulls, so each event is applied one time.
    const applied = (await read('/applied')).trim().split('\n');
    expect(applied.length).toBeGreaterThan(20);
    expect(applied).toEqual(await listEvents());
    // The nudge, a request that did not come from the browser, has ended the browser's session.
    expect([await read('/sessions'), (await browser.go('/')).text]).toEqual(['[]', 'nobody']);
    expect(await read('/profiles')).toContain(leaver.id);
    await deletePerson(app.db, leaver);
    expect((await nudge(readme, secret)).status).toBe(204);
    expect(await read('/profiles')).not.toContain(leaver.id);
    await read('/break-profiles');
    const { location } = await browser.go('/login');
    const launch = await app.send(location, { cookie: await app.login(customer) });
    const { status, headers } = await browser.go(
      `/sso/callback${new URL(launch.headers.get('location') ?? '').search}`,
    );
    expect([status, headers.get('set-cookie'), await read('/sessions')]).toEqual([503, null, '[]']);
    expect((await nudge(readme, `${secret}!`)).headers.get('identity-refusal')).toBe('nudge_signature_wrong');
  } finally {
    await readme.close();
  }
});

/** Sends the form that logs out, but keeps the cookie. If the cookie then opens nothing, the site has ended the session. */
function sendLogout({ origin }: Site, cookies: Map<string, string>, token: string): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const body = new URLSearchParams({ token });
  return fetch(`${origin}/logout`, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
}

async function listEvents(): Promise<string[]> {
  const events = shop.app.db.selectFrom('events').select(['seq', 'type']).where('client', '=', 'shop');
  const rows = await events.where('seq', 'is not', null).orderBy('seq').execute();
  return rows.map(({ seq, type }) => `${seq} ${type}`);
}

function nudge({ origin }: Site, key: string): Promise<Response> {
  const [id, timestamp, body] = ['shop_1', Math.floor(Date.now() / 1_000), '{"client":"shop","latest":1}'];
  const ours = createHmac('sha256', key).update('identity webhooks v1 shop').digest();
  const signature = createHmac('sha256', ours).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
  return fetch(`${origin}/sso/events`, { method: 'POST', body, headers });
}

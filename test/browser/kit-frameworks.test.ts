// The kit for TypeScript in real applications, one for each framework of its README. Each application is made of the README's
// unchanged samples, and is a client of the real service (contract 13.120, 13.126 to 13.128).
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { CompiledQuery } from 'kysely';
import { transformWithEsbuild } from 'vite';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { sqlTables } from '../../clients/typescript/src/index.ts';
import { logIn, openSite, type TestSite } from '../support/app/browser.ts';
import { findFreePort } from '../support/app/process.ts';
import {
  nodeServer,
  reactRouterHome,
  reactRouterServer,
  siteFiles,
} from '../support/clients/framework-files.ts';
import { customer, openSiteBrowser } from '../support/clients/shop.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { readCodeBlocks, readOurFile } from '../support/project/documents.ts';
import { sharedFolder } from '../support/run/shared.ts';

const kit = 'clients/typescript';
const folder = await sharedFolder();
const secret = 'a-secret-that-nobody-else-has-0123456789';

/** Returns the samples below a heading of the README. */
function readSamples(heading: string): string[] {
  const [, text = ''] = readOurFile(`${kit}/README.md`).split(`\n${heading}\n`);
  const [part = ''] = text.split(/\n##/);
  return readCodeBlocks({ path: kit, text: part }).flatMap(({ language, code }) =>
    /^jsx?$/.test(language) ? [code] : [],
  );
}

const [identityFile = ''] = readSamples('## Put it into your site');
const only = (heading: string) => {
  const samples = readSamples(heading);
  expect(samples, heading).toHaveLength(1);
  return samples[0] ?? '';
};

const frameworks: Record<string, () => Record<string, string>> = {
  express: () => ({ 'main.js': only('### Express') }),
  fastify: () => ({ 'main.js': only('### Fastify') }),
  hono: () => ({ 'main.js': only('### Hono') }),
  node: () => ({ 'main.js': nodeServer.replace('ANYWHERE', () => only('### Everything else')) }),
  react: () => {
    const [rest = '', orders = ''] = readSamples('### React Router');
    return {
      'main.js': reactRouterServer,
      'home.js': reactRouterHome,
      'app/routes/$.jsx': rest,
      'app/routes/orders.jsx': orders,
    };
  },
};

const packages = [
  'express',
  'fastify',
  '@fastify/middie',
  'hono',
  '@hono/node-server',
  'pg',
  'react',
  'react-dom',
];

let site: TestSite;
const origins = new Map<string, string>();
const closings: (() => unknown)[] = [];

beforeAll(async () => {
  const modules = join(folder, 'node_modules');
  for (const name of packages) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(process.cwd(), 'node_modules', name), join(modules, name));
  }
  await symlink(join(process.cwd(), 'node_modules/react-router-7'), join(modules, 'react-router'));
  const build = join(modules, 'identity-client');
  const tsc = ['node_modules/typescript-7/bin/tsc', '-p', kit, '--outDir', join(build, 'dist')];
  const built = promisify(execFile)(process.execPath, tsc);
  for (const name of Object.keys(frameworks)) origins.set(name, `http://127.0.0.1:${await findFreePort()}`);
  const settings = [...origins].flatMap(([name, origin]) =>
    Object.entries({
      SECRET: secret,
      CALLBACK_URL: `${origin}/sso/callback`,
      LOGIN_URL: `${origin}/login`,
      EVENTS_URL: `${origin}/sso/events`,
    }).map(([setting, value]) => [`SSO_${name.toUpperCase()}_${setting}`, value]),
  );
  site = await openSite({ SSO_CLIENTS: [...origins.keys()].join(), ...Object.fromEntries(settings) });
  closings.push(() => site.close());
  await built;
  await copyFile(join(kit, 'package.json'), join(build, 'package.json'));
  await Promise.all([...origins].map(([name, origin]) => start(name, origin)));
});
afterAll(async () => {
  for (const close of closings.reverse()) await close();
});

/** Starts the application as a process of its own, with a database of its own. */
async function start(name: string, origin: string): Promise<void> {
  const { url, drop } = await emptyDatabase(inject('templateUrl'));
  closings.push(drop);
  const client = connect(url);
  for (const table of sqlTables()) await client.db.executeQuery(CompiledQuery.raw(table));
  await client.close();
  const files = { ...siteFiles, 'identity.js': identityFile, ...frameworks[name]?.() };
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path);
    await mkdir(dirname(file), { recursive: true });
    const code = path.endsWith('x')
      ? (await transformWithEsbuild(text, path, { jsx: 'automatic' })).code
      : text;
    await writeFile(file.replace(/x$/, ''), code);
  }
  const { issuer } = site.app.config;
  const env = {
    ...process.env,
    NODE_ENV: 'production' as const,
    IDENTITY_URL: issuer.replace('//', `//${name}:${secret}@`),
    ORIGIN: origin,
    PORT: new URL(origin).port,
    DATABASE_URL: url,
  };
  const child: ChildProcess = spawn(process.execPath, ['main.js'], { cwd: join(folder, name), env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const exited = new Promise((done) => child.on('close', done));
  closings.push(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const isUp = async () => {
    const answer = await fetch(`${origin}/login`, { redirect: 'manual' }).catch(() => undefined);
    if (answer?.status !== 303)
      throw new Error(`${name} did not start: ${answer?.status} ${await answer?.text()} ${output}`);
  };
  await vi.waitFor(isUp, { timeout: 20_000, interval: 100 });
}

describe.each(Object.keys(frameworks))('the kit in an application on %s', (name) => {
  it('guards a page, logs in by a hand-off, and out by a form with its token only', async () => {
    const { app } = site;
    const origin = origins.get(name) ?? '';
    const browser = openSiteBrowser({ origin });
    const guarded = await browser.go('/orders');
    expect([guarded.status, new URL(guarded.location, origin).href]).toEqual([
      303,
      expect.stringMatching(/\/login\?return_to=(%2F|\/)orders$/),
    ]);
    const identityCookie = await app.login(customer);
    const launch = await app.send((await browser.go(guarded.location)).location, { cookie: identityCookie });
    const callback = launch.headers.get('location') ?? '';
    const received = await browser.go(callback);
    expect([received.status, received.location]).toEqual([303, `${origin}/orders`]);
    const again = await browser.go(callback);
    expect([again.status, again.refusal, /Log in/.test(again.text)]).toEqual([409, 'nonce_replayed', true]);

    for (const path of ['/', '/orders']) expect((await browser.go(path)).cacheControl, path).toBe('no-store');
    const page = (await browser.go('/orders')).text;
    expect(page).toContain('Casey Customer');
    const [, token = ''] = /name="token" value="([0-9a-f]{64})"/.exec(page) ?? [];
    const leave = (given: string) => browser.go('/logout', 'POST', new URLSearchParams({ token: given }));
    const wrong = await leave(token.replace(/^./, (first) => (first === '0' ? '1' : '0')));
    expect([wrong.status, wrong.refusal]).toEqual([403, 'logout_token_wrong']);
    expect((await browser.go('/logout')).status).toBe(405);
    expect((await browser.go('/orders')).text).toContain('Casey Customer');
    const left = await leave(token);
    expect([left.status, left.location.startsWith(`${app.config.issuer}/logout?client=${name}`)]).toEqual([
      303,
      true,
    ]);
    expect((await browser.go('/orders')).status).toBe(303);
  });

  it('ends the session when the login ends at the service', async () => {
    const { app } = site;
    const browser = openSiteBrowser({ origin: origins.get(name) ?? '' });
    const cookie = await app.login(customer);
    const launch = await app.send((await browser.go('/login')).location, { cookie });
    await browser.go(launch.headers.get('location') ?? '');
    expect((await browser.go('/')).text).toContain('Hello, Casey Customer');
    await app.send('/logout', { method: 'POST', cookie });
    const soon = { timeout: 15_000, interval: 100 };
    await expect.poll(async () => (await browser.go('/orders')).status, soon).toBe(303);
  });

  it('in Chromium, logs in silently or by its page, and out', async () => {
    const origin = origins.get(name) ?? '';
    const { page, context } = await site.visit();
    await page.goto(`${origin}/`);
    await page.getByText('Hello, stranger').waitFor();
    await page.goto(`${origin}/orders`);
    await logIn(page, customer);
    await page.getByText('Orders of Casey Customer').waitFor();
    expect(page.url()).toBe(`${origin}/orders`);
    await page.goto(`${origin}/`);
    await page.getByText('Hello, Casey Customer').waitFor();
    if (name !== 'fastify') {
      // Deletes the session at the site. The session at the service logs the browser in again without showing a page.
      await context.clearCookies({ domain: '127.0.0.1' });
      await page.goto(`${origin}/`);
      await page.getByText('Hello, Casey Customer').waitFor();
    }
    await page.goto(`${origin}/orders`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByText('Hello, stranger').waitFor();
    expect(page.url()).toBe(`${origin}/`);
    await context.close();
  });
});

// Runs the samples in the README of the kit for Python, unchanged, in real applications with the real service. Needs Debian's
// packages of Flask, Django, FastAPI and uvicorn.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logIn, openSite, type TestSite } from '../support/app/browser.ts';
import { findFreePort } from '../support/app/process.ts';
import { openPythonSite } from '../support/clients/python-site.ts';
import { customer, openSiteBrowser } from '../support/clients/shop.ts';
import { requirePrograms } from '../support/machines/programs.ts';
import { readCodeBlocks, readOurFile } from '../support/project/documents.ts';
import { sharedFolder } from '../support/run/shared.ts';

const readme = 'clients/python/README.md';
const secret = 'a-secret-that-nobody-else-has-0123456789';
const folder = await sharedFolder();

/** Returns the Python below a heading of the README. */
function readSamples(heading: string): string[] {
  const [, text = ''] = readOurFile(readme).split(`\n${heading}\n`);
  const [part = ''] = text.split(/\n##/);
  const blocks = readCodeBlocks({ path: readme, text: part });
  return blocks.filter(({ language }) => language === 'python').map(({ code }) => code);
}

const [shopLogin = ''] = readSamples('## Put it into your site');
const [flask = ''] = readSamples('### Flask');
const [djangoWsgi = '', djangoView = '', djangoAsgi = ''] = readSamples('### Django');
const [fastapi = ''] = readSamples('### FastAPI');
const [silent = ''] = readSamples('### Silent login');

/** The files of a Django project besides the samples. Django's check of forms (CSRF) is on. */
const djangoProject = {
  'settings.py': `SECRET_KEY = 'x'
ALLOWED_HOSTS = ['127.0.0.1']
ROOT_URLCONF = 'urls'
WSGI_APPLICATION = 'wsgi.application'
MIDDLEWARE = ['django.middleware.common.CommonMiddleware', 'django.middleware.csrf.CsrfViewMiddleware']`,
  'urls.py': `from django.urls import path
from views import orders
urlpatterns = [path('orders', orders)]`,
};
const serveByWsgi = `import sys
from wsgiref.simple_server import make_server
from silent import application
make_server('127.0.0.1', int(sys.argv[1]), application).serve_forever()`;
const uvicorn = (app: string) => (port: string) => ['-m', 'uvicorn', app, '--port', port];

type Application = { files: Record<string, string>; args: (port: string) => string[] };
const applications: Record<string, Application> = {
  flask: {
    files: { 'shop.py': flask },
    args: (port) => ['-m', 'flask', '--app', 'shop', 'run', '--port', port],
  },
  django: {
    files: { ...djangoProject, 'views.py': djangoView, 'wsgi.py': djangoWsgi },
    args: (port) => ['-m', 'django', 'runserver', '--noreload', port],
  },
  django_asgi: {
    files: {
      ...djangoProject,
      'views.py': djangoView.replaceAll('request.META', 'request.scope'),
      'asgi.py': djangoAsgi,
    },
    args: uvicorn('asgi:application'),
  },
  fastapi: { files: { 'shop.py': fastapi }, args: uvicorn('shop:app') },
  silent: {
    files: { 'silent.py': silent, 'serve.py': serveByWsgi },
    args: (port) => ['serve.py', port],
  },
};
const frameworks = Object.keys(applications).filter((name) => name !== 'silent');

let service: TestSite;
const origins = new Map<string, string>();
const closings: (() => Promise<void>)[] = [];
const originOf = (name: string) => origins.get(name) ?? '';

beforeAll(async () => {
  const packages = '/usr/lib/python3/dist-packages';
  requirePrograms(`${packages}/django`, `${packages}/fastapi`, `${packages}/flask`, '/usr/bin/uvicorn');
  for (const name of Object.keys(applications)) origins.set(name, `http://127.0.0.1:${await findFreePort()}`);
  const settings = [...origins].flatMap(([name, origin]) =>
    Object.entries({
      SECRET: secret,
      CALLBACK_URL: `${origin}/sso/callback`,
      LOGIN_URL: `${origin}/login`,
      EVENTS_URL: `${origin}/sso/events`,
    }).map(([setting, value]) => [`SSO_${name.toUpperCase()}_${setting}`, value]),
  );
  service = await openSite({ SSO_CLIENTS: [...origins.keys()].join(), ...Object.fromEntries(settings) });
  closings.push(service.close);
  await Promise.all([...origins.keys()].map(start));
});
afterAll(async () => {
  for (const close of closings.reverse()) await close();
});

const dataOf = (name: string) => join(folder, name, 'data');

async function start(name: string): Promise<void> {
  const { files, args } = applications[name] as Application;
  const [cwd, origin] = [join(folder, name), originOf(name)];
  await mkdir(dataOf(name), { recursive: true });
  const login = shopLogin.replace('https://shop.example.com', origin).replace('/var/lib/shop', dataOf(name));
  for (const [file, text] of Object.entries({ ...files, 'shop_login.py': login }))
    await writeFile(join(cwd, file), text);
  const env = {
    DJANGO_SETTINGS_MODULE: 'settings',
    IDENTITY_URL: service.app.config.issuer.replace('//', `//${name}:${secret}@`),
  };
  const site = await openPythonSite(args(new URL(origin).port), origin, env, cwd);
  closings.push(site.close);
}

/** Takes a browser to the service and back, but does not open the callback. */
async function comeBack(name: string, cookie: string, browser = openSiteBrowser({ origin: originOf(name) })) {
  const guarded = await browser.go('/orders');
  expect(guarded.status).toBeOneOf([302, 303]);
  const start = await browser.go(guarded.location);
  const launch = await service.app.send(start.location, { cookie });
  return { browser, callback: launch.headers.get('location') ?? '' };
}

async function logInAt(name: string, cookie: string, cookies?: Map<string, string>) {
  const { browser, callback } = await comeBack(
    name,
    cookie,
    openSiteBrowser({ origin: originOf(name) }, cookies),
  );
  const answer = await browser.go(callback);
  expect([answer.status, answer.location]).toEqual([303, `${originOf(name)}/orders`]);
  return browser;
}

type SiteBrowser = ReturnType<typeof openSiteBrowser>;
const isLoggedIn = async (browser: SiteBrowser) =>
  (await browser.go('/orders')).text.includes('Hello, Casey Customer');
const copyOf = (name: string, browser: SiteBrowser) =>
  openSiteBrowser({ origin: originOf(name) }, new Map(browser.cookies));

describe.each(frameworks)('the kit in an application on %s', (name) => {
  it('guards a page, logs in by a hand-off, and out by a form with its token only (contract 13.126 and 13.127)', async () => {
    const { issuer } = service.app.config;
    // A stranger has planted a cookie in the browser, and keeps a copy of it.
    const planted = new Map([[`${name}_session`, 'A'.repeat(43)]]);
    const stranger = openSiteBrowser({ origin: originOf(name) }, new Map(planted));
    const browser = await logInAt(name, await service.app.login(customer), planted);
    expect([await isLoggedIn(browser), await isLoggedIn(stranger)]).toEqual([true, false]);
    const thief = copyOf(name, browser);
    const page = (await browser.go('/orders')).text;
    const [, token = ''] = /name="token" value="([0-9a-f]{64})"/.exec(page) ?? [];
    const leave = (given: string) => browser.go('/logout', 'POST', new URLSearchParams({ token: given }));
    const wrong = await leave(token.replace(/^./, (first) => (first === '0' ? '1' : '0')));
    expect([wrong.status, wrong.refusal]).toEqual([403, 'logout_token_wrong']);
    expect(wrong.text).toContain('<h1>You are not logged out</h1>');
    expect((await browser.go('/logout')).status).toBe(405);
    expect([await isLoggedIn(browser), await isLoggedIn(thief)]).toEqual([true, true]);
    const left = await leave(token);
    expect([left.status, left.location]).toEqual([303, `${issuer}/logout?client=${name}&return_to=%2F`]);
    expect([await isLoggedIn(browser), await isLoggedIn(thief)]).toEqual([false, false]);
  });

  it('starts one session of 16 callbacks at once, and shows a page for the others', async () => {
    const { browser, callback } = await comeBack(name, await service.app.login(customer));
    const twins = Array.from({ length: 16 }, () => copyOf(name, browser));
    const answers = await Promise.all(twins.map((twin) => twin.go(callback)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(409)]);
    expect(answers.find(({ status }) => status === 409)?.text).toContain('<code>nonce_replayed</code>');
    const pages = await Promise.all(twins.map(isLoggedIn));
    expect(pages.filter((page) => page)).toHaveLength(1);
  });

  it('ends the session within two seconds of the end of its login (contract 13.124)', async () => {
    const cookie = await service.app.login(customer);
    const browser = await logInAt(name, cookie);
    const other = await logInAt(name, await service.app.login(customer));
    await service.app.send('/logout', { method: 'POST', cookie });
    await expect.poll(() => isLoggedIn(browser), { timeout: 2_000, interval: 50 }).toBe(false);
    expect(await isLoggedIn(other)).toBe(true);
  });

  it('logs nobody in and nobody out while its store is away (contract 13.132)', async () => {
    const cookie = await service.app.login(customer);
    const browser = await logInAt(name, cookie);
    const late = await comeBack(name, cookie);
    await rename(dataOf(name), `${dataOf(name)}-away`);
    try {
      const answers = [await browser.go('/orders'), await late.browser.go(late.callback)];
      expect(answers.map(({ status, refusal }) => [status, refusal])).toEqual(
        Array(2).fill([503, 'store_unavailable']),
      );
    } finally {
      await rename(`${dataOf(name)}-away`, dataOf(name));
    }
    expect(await isLoggedIn(browser)).toBe(true);
    expect((await late.browser.go(late.callback)).status).toBe(303);
  });

  it('logs in and out in Chromium', async () => {
    const { page, context } = await service.visit();
    await page.goto(`${originOf(name)}/orders`);
    await logIn(page, customer);
    await page.getByText('Hello, Casey Customer').waitFor();
    expect(page.url()).toBe(`${originOf(name)}/orders`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${service.baseUrl}/logout?*`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${originOf(name)}/`);
    await page.goto(`${originOf(name)}/orders`);
    await page.getByLabel('Email address').waitFor();
    await context.close();
  });
});

describe('a silent login', () => {
  it('leads a browser that keeps no cookie to the service once a visit, in 200 visits (contract 13.136)', async () => {
    const origin = originOf('silent');
    const cookie = await service.app.login(customer);
    for (let n = 0; n < 200; n++) {
      const visit = async (address: string) => openSiteBrowser({ origin }).go(address);
      const { status, location } = await visit(`/news?page=${n}`);
      expect([status, location]).toEqual([303, expect.stringContaining('prompt=none')]);
      // In one of 20 visits, somebody is logged in at the service.
      const launch = await service.app.send(location, n % 20 ? {} : { cookie });
      const back = await visit(launch.headers.get('location') ?? '');
      expect([back.status, back.location]).toEqual([303, `${origin}/news?page=${n}&silent=no`]);
      const page = await visit(back.location);
      expect([page.status, page.text]).toEqual([200, 'Hello, guest']);
    }
  });

  it('logs in who is logged in there, and shows its page to everybody else, in Chromium', async () => {
    const { page, context } = await service.visit();
    const address = `${originOf('silent')}/news?page=1`;
    await page.goto(address);
    await page.getByText('Hello, guest').waitFor();
    expect(page.url()).toBe(address);
    await page.goto('/login');
    await logIn(page, customer);
    await page.waitForURL((url) => url.pathname !== '/login');
    await context.clearCookies({ name: 'silent_silent' });
    await page.goto(address);
    await page.getByText('Hello, Casey Customer').waitFor();
    expect(page.url()).toBe(address);
    await context.close();
  });
});

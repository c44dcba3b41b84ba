import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import type { TestApp } from '../support/app/app.ts';
import { readScrape } from '../support/app/metrics.ts';
import { retryWhileBusy } from '../support/app/patience.ts';
import {
  entryOf,
  findFreePort,
  type RunningProcess,
  type Runtime,
  run,
  startService,
} from '../support/app/process.ts';
import { cookieOf, logIn, openBrowser } from '../support/app/visitor.ts';
import { checkVectors } from '../support/clients/vectors.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { createAuthenticator, fetchOptions } from '../support/people/authenticator.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const folder = await sharedFolder();

/** Logs in, edits the name, chooses a time zone and goes on to the demo client, over the network. */
async function goRound(port: number, name: string): Promise<string> {
  const base = `http://localhost:${port}`;
  const post = (path: string, form: Record<string, string>, cookie = '') =>
    fetch(base + path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: base, cookie },
      redirect: 'manual',
    });
  const login = await post('/login', { email: 'customer@example.test', password: 'local demo password' });
  const cookie = cookieOf(login);
  const edit = await post('/profile', { intent: 'names', name, accountName: 'Round trip' }, cookie);
  expect(edit.status).toBe(303);
  const get = (path: string, cookie = '') =>
    fetch(new URL(path, base), { headers: { cookie }, redirect: 'manual' });
  await post('/profile', { intent: 'time-zone', timeZone: 'Asia/Calcutta' }, cookie);
  const security = await (await get('/profile/security', cookie)).text();
  expect(security).toContain('data-time-zone="Asia/Kolkata"');
  expect(security).toContain(' GMT+5:30</time>');
  const start = await get('/demo/crm_app/login');
  const launch = await get(start.headers.get('location') ?? '', cookie);
  const callback = await get(launch.headers.get('location') ?? '', cookieOf(start));
  const demoCookie = cookieOf(callback);
  const page = await fetch(`${base}/demo/crm_app`, { headers: { cookie: demoCookie } });
  return page.text();
}

async function readName(port: number): Promise<string> {
  const base = `http://localhost:${port}`;
  const login = await fetch(`${base}/login`, {
    method: 'POST',
    body: new URLSearchParams({ email: 'customer@example.test', password: 'local demo password' }),
    headers: { origin: base },
    redirect: 'manual',
  });
  const cookie = cookieOf(login);
  const profile = await fetch(`${base}/sso/profile`, { headers: { cookie } });
  return ((await profile.json()) as { name: string }).name;
}

/** Adds a passkey, and logs in with it over the network. Returns who is then logged in. */
async function consumePasskey(port: number): Promise<string | undefined> {
  const base = `http://localhost:${port}`;
  const send: TestApp['send'] = async (path, { form, cookie = '' } = {}) => {
    const body = form && new URLSearchParams(form);
    const headers = { origin: base, cookie };
    const method = form ? 'POST' : 'GET';
    const response = await fetch(base + path, { method, body, headers, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const phone = createAuthenticator();
  const browser = await logIn(send, 'customer@example.test');
  const created = phone.register(await fetchOptions(browser, 'add'), base);
  const added = await browser.send('/profile/passkeys/add', { form: { name: 'Phone', passkey: created } });
  expect(added.status).toBe(303);
  const later = openBrowser(send);
  const passkey = phone.answer(await fetchOptions(later, 'login'), base);
  expect((await later.send('/login', { form: { passkey } })).status).toBe(303);
  const forged = phone.answer(await fetchOptions(later, 'login'), base, { isForged: true });
  expect((await later.send('/login', { form: { passkey: forged } })).status).toBe(401);
  return later.whoAmI();
}

const changed = (url: string, parts: { password?: string; pathname?: string; search?: string }) =>
  Object.assign(new URL(url), parts).href;

describe.each<Runtime>(['node', 'deno'])('the service on %s', (runtime) => {
  it('starts without settings on an embedded database, keeps its data, and stops completely', async () => {
    const home = join(folder, runtime);
    const [port, env] = [await findFreePort(), { EMBEDDED_DATABASE_FOLDER: home }];
    const pidFile = join(home, 'postgres', 'postmaster.pid');

    const first = await startService(runtime, port, env);
    expect(first.output()).toContain(`http://localhost:${port}/login`);
    expect(first.output()).toContain('merchant@example.test');
    expect(first.output()).toContain(`Data is kept in ${home}`);
    expect(await goRound(port, `Round on ${runtime}`)).toContain(`Hello, Round on ${runtime}`);
    expect(await consumePasskey(port)).toBe('customer@example.test');
    first.child.kill('SIGTERM');
    expect(await first.exited, first.output()).toBe(0);
    expect(existsSync(pidFile)).toBe(false);

    const second = await startService(runtime, port, env);
    expect(await readName(port)).toBe(`Round on ${runtime}`);
    second.child.kill('SIGKILL');
    await second.exited;
    expect(existsSync(pidFile)).toBe(true);

    const third = await startService(runtime, port, env);
    expect(await readName(port)).toBe(`Round on ${runtime}`);
    third.child.kill('SIGINT');
    expect(await third.exited).toBe(0);
    expect(existsSync(pidFile)).toBe(false);
  });

  it.runIf(existsSync('/proc/self/status'))(
    'hashes few passwords at once, however many users log in',
    async () => {
      const { url, drop } = await cloneDatabase(inject('templateUrl'));
      const port = await findFreePort();
      const env = { DATABASE_URL: url, PASSWORD_HASHING_THREADS: '3' };
      const service = await startService(runtime, port, env);
      const base = `http://localhost:${port}`;
      const logins = Array.from({ length: 32 }, async (_, n) => {
        const body = new URLSearchParams({ email: `nobody-${n}@example.test`, password: 'wrong' });
        const send = async () => {
          const answer = await fetch(`${base}/login`, { method: 'POST', body, headers: { origin: base } });
          return { status: answer.status, headers: answer.headers, text: await answer.text() };
        };
        return (await retryWhileBusy(send)).status;
      });
      expect(await Promise.all(logins)).toEqual(Array(32).fill(401));
      const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
      // If all passwords were hashed at the same time, this would take 608 MiB.
      expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(450 * 1_024);
      service.child.kill('SIGTERM');
      await service.exited;
      await drop();
    },
  );

  it('hashes nothing for clients that have gone while they waited', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const service = await startService(runtime, port, { DATABASE_URL: url, PASSWORD_HASHING_THREADS: '1' });
    const base = `http://localhost:${port}`;
    const clients = new AbortController();
    const logins = Array.from({ length: 24 }, (_, n) =>
      fetch(`${base}/login`, {
        method: 'POST',
        body: new URLSearchParams({ email: `nobody-${n}@example.test`, password: 'wrong' }),
        headers: { origin: base },
        signal: clients.signal,
      }),
    );
    await Promise.race(logins);
    clients.abort();
    await Promise.allSettled(logins);
    await expect
      .poll(() => service.output(), { timeout: 10_000 })
      .toMatch(/"reason":"invalid_request".*"password not checked"/);
    expect(service.output()).not.toMatch(/"level":50|warning/i);
    service.child.kill('SIGTERM');
    await service.exited;
    await drop();
  });

  it('says in one sentence why it cannot start, and exits (contract 9.243)', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const other = await startService(runtime, port, { DATABASE_URL: url });
    const file = join(folder, `${runtime}-file`);
    await writeFile(file, '');
    const faults: [Record<string, string>, RegExp][] = [
      [{ DATABASE_URL: url, PORT: String(port) }, /^Port \d+ on 127\.0\.0\.1 is already in use\. .*\n$/],
      [
        { EMBEDDED_DATABASE_FOLDER: join(file, 'data') },
        /^Cannot write to the folder of the embedded database, .* \(\w+\)\.\n$/,
      ],
      [
        { DATABASE_URL: changed(url, { password: 'kanarienvogel' }) },
        /^The database refuses the user or the password in DATABASE_URL \(28P01\)\.\n$/,
      ],
      [
        { DATABASE_URL: changed(url, { pathname: '/kanarienvogel' }) },
        /^The database that DATABASE_URL names does not exist\.\n$/,
      ],
      [
        { DATABASE_URL: changed(url, { search: '?sslmode=verify-full' }) },
        /^DATABASE_URL asks for TLS, which the database does not support\.\n$/,
      ],
      [
        { NODE_ENV: 'prod', HOST: '0.0.0.0' },
        /^These settings are wrong:\n {2}HOST must be on this machine .*\n$/,
      ],
      [{ NODE_ENV: 'production' }, /^These settings are wrong:\n( {2}[A-Z_]+ .*\n)+$/],
    ];
    for (const [env, sentence] of faults) {
      const service = run(runtime, [entryOf[runtime]], env);
      expect(await service.exited).toBe(1);
      expect(service.output()).toMatch(sentence);
    }
    other.child.kill('SIGTERM');
    await other.exited;
    await drop();
  });

  describe('while it runs', () => {
    let [port, metricsPort] = [0, 0];
    let env: Record<string, string>;
    let service: RunningProcess;
    const database = shared(openFreshDatabase);
    beforeAll(async () => {
      [port, metricsPort] = [await findFreePort(), await findFreePort()];
      env = { DATABASE_URL: database.url, METRICS_PORT: String(metricsPort) };
      service = await startService(runtime, port, env);
    });

    it('answers in local mode only to a Host of this machine', async () => {
      const statusFor = (host: string, path = '/healthz') =>
        new Promise<number | undefined>((done, failed) => {
          const options = { port, host: '127.0.0.1', path, headers: { host } };
          request(options, ({ statusCode }) => done(statusCode))
            .on('error', failed)
            .end();
        });
      for (const host of [`localhost:${port}`, '127.0.0.1', 'id.localhost', `[::1]:${port}`])
        expect(await statusFor(host), host).toBe(200);
      for (const host of [`evil.example:${port}`, 'localhost.evil.example', '192.168.0.1'])
        expect(await statusFor(host), host).toBe(400);
      expect(await statusFor('localhost', 'http://evil.example/healthz')).toBe(400);
    });

    it('answers 400 to a body that its sender gives up half way, and logs no error', async () => {
      const types = { '/login': 'x-www-form-urlencoded', '/integrations/crm/signups': 'json' };
      const halves = ['Content-Length: 9\r\n\r\nab', 'Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'];
      for (const [path, type] of Object.entries(types)) {
        for (const half of halves) {
          const socket = connect(port, '127.0.0.1');
          socket.write(
            `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: http://localhost:${port}\r\n`,
          );
          socket.write(`Content-Type: application/${type}\r\n${half}`);
          setTimeout(() => socket.destroy(), 1_500);
        }
      }
      const statuses = () =>
        [...service.output().matchAll(/"POST".*"status":(\d+)/g)].map(([, status]) => status);
      await expect.poll(statuses).toEqual(Array(4).fill('400'));
      expect(service.output()).not.toMatch(/"level":50|warning/i);
    });

    it('is measured at METRICS_PORT, and nowhere else (contract 9.156)', async () => {
      const readMetrics = async () => (await fetch(`http://localhost:${metricsPort}/metrics`)).text();
      const lags = async () =>
        readScrape(await readMetrics()).valueFor('identity_event_loop_lag_seconds_count');
      await expect.poll(lags, { timeout: 10_000 }).toBeGreaterThan(3);
      const { samples, valueFor } = readScrape(await readMetrics());
      expect(valueFor('identity_database_up')).toBe(1);
      expect(valueFor('process_cpu_seconds_total')).toBeGreaterThan(0);
      expect(valueFor('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
      expect(samples.find(({ name }) => name === 'identity_build_info')?.labels.runtime).toBe(runtime);
      expect((await fetch(`http://localhost:${metricsPort}/healthz`)).status).toBe(404);
      expect((await fetch(`http://localhost:${port}/metrics`)).status).toBe(404);
      const second = run(runtime, [entryOf[runtime]], {
        ...env,
        PORT: String(await findFreePort()),
      });
      expect(await second.exited).toBe(1);
      expect(second.output()).toContain(
        `Port ${metricsPort} on 127.0.0.1 is already in use. Set METRICS_PORT to`,
      );
    });

    // This test comes last, because it stops the service.
    it('finishes the current request when it has to stop', async () => {
      const base = `http://localhost:${port}`;
      const answer = new Promise<number | undefined>((done, failed) => {
        const form = 'email=merchant%40example.test&password=local+demo+password';
        const headers = {
          origin: base,
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': String(form.length),
        };
        const post = request(`${base}/login`, { method: 'POST', headers }, (response) =>
          done(response.statusCode),
        );
        post.on('error', failed);
        // One half of the form is sent before the signal, the other half after it.
        post.write(form.slice(0, 10));
        setTimeout(() => service.child.kill('SIGTERM'), 1_500);
        setTimeout(() => post.end(form.slice(10)), 3_000);
      });
      expect(await answer).toBe(303);
      expect(await service.exited).toBe(0);
    });
  });
});

it('Node and Deno seal and verify the vectors alike', async () => {
  const onNode = await checkVectors();
  expect(onNode.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(onNode.length).toBeGreaterThan(15);
  const deno = run('deno', ['test/support/clients/vectors.ts']);
  expect(await deno.exited, deno.output()).toBe(0);
  expect(JSON.parse(deno.output())).toEqual(onNode);
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { cloneDatabase, makeFolder } from './support/postgres.ts';
import { entryOf, findFreePort, type Runtime, run, startService } from './support/process.ts';
import { checkVectors } from './support/vectors.ts';

let folder: string;
beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Logs in, edits the name, and is carried to the demo client, over the network. */
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
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const edit = await post('/profile', { intent: 'names', name, accountName: 'Round trip' }, cookie);
  expect(edit.status).toBe(303);
  const launch = await fetch(`${base}/sso/launch/crm_app`, { headers: { cookie }, redirect: 'manual' });
  const callback = await fetch(launch.headers.get('location') ?? '', { redirect: 'manual' });
  const demoCookie = callback.headers.get('set-cookie')?.split(';')[0] ?? '';
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
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const profile = await fetch(`${base}/sso/profile`, { headers: { cookie } });
  return ((await profile.json()) as { name: string }).name;
}

describe.each<Runtime>(['node', 'deno'])('on %s', (runtime) => {
  it('starts with no settings on an embedded database, keeps its data, and stops all of it', async () => {
    const home = join(folder, runtime);
    const [port, env] = [await findFreePort(), { EMBEDDED_DATABASE_FOLDER: home }];
    const pidFile = join(home, 'postgres', 'postmaster.pid');

    const first = await startService(runtime, port, env);
    expect(first.output()).toContain(`http://localhost:${port}/login`);
    expect(first.output()).toContain('merchant@example.test');
    expect(await goRound(port, `Round on ${runtime}`)).toContain(`Hello, Round on ${runtime}`);
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

  it('finishes the request under way when it is told to stop', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const service = await startService(runtime, port, { DATABASE_URL: url });
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
      // Half of it before the signal, half after.
      post.write(form.slice(0, 10));
      setTimeout(() => service.child.kill('SIGTERM'), 300);
      setTimeout(() => post.end(form.slice(10)), 600);
    });
    expect(await answer).toBe(303);
    expect(await service.exited).toBe(0);
    await drop();
  });

  it('takes a body that its sender gives up half way for a refusal, and no fault', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const service = await startService(runtime, port, { DATABASE_URL: url });
    const types = { '/login': 'x-www-form-urlencoded', '/integrations/crm/signups': 'json' };
    const halves = ['Content-Length: 9\r\n\r\nab', 'Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n'];
    for (const [path, type] of Object.entries(types)) {
      for (const half of halves) {
        const socket = connect(port, '127.0.0.1');
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nOrigin: http://localhost:${port}\r\n`,
        );
        socket.write(`Content-Type: application/${type}\r\n${half}`);
        setTimeout(() => socket.destroy(), 200);
      }
    }
    const statuses = () =>
      [...service.output().matchAll(/"POST".*"status":(\d+)/g)].map(([, status]) => status);
    await expect.poll(statuses, { timeout: 10_000 }).toEqual(Array(4).fill('400'));
    expect(service.output()).not.toMatch(/"level":50|warning/i);
    service.child.kill('SIGTERM');
    await service.exited;
    await drop();
  });

  it.runIf(existsSync('/proc/self/status'))('hashes few passwords at once, however many log in', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const service = await startService(runtime, port, { DATABASE_URL: url });
    const base = `http://localhost:${port}`;
    const logins = Array.from({ length: 64 }, async (_, n) => {
      const body = new URLSearchParams({ email: `nobody-${n}@example.test`, password: 'wrong' });
      const answer = await fetch(`${base}/login`, { method: 'POST', body, headers: { origin: base } });
      await answer.text();
      return answer.status;
    });
    expect(await Promise.all(logins)).toEqual(Array(64).fill(401));
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
    // All at once would take 1,216 MiB for their hashes alone.
    expect(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1])).toBeLessThan(450 * 1_024);
    service.child.kill('SIGTERM');
    await service.exited;
    await drop();
  });

  it('says in a sentence what is wrong, and gives up', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const port = await findFreePort();
    const other = await startService(runtime, port, { DATABASE_URL: url });
    const file = join(folder, `${runtime}-file`);
    await writeFile(file, '');
    const faults: [Record<string, string>, RegExp][] = [
      [
        { DATABASE_URL: url, PORT: String(port) },
        /^The port \d+ on 127\.0\.0\.1 is in use by another process\. .*\n$/,
      ],
      [{ EMBEDDED_DATABASE_FOLDER: join(file, 'data') }, /^The folder .* cannot be written \(\w+\)\.\n$/],
      [
        { DATABASE_URL: 'postgres://127.0.0.1:1/none' },
        /^The database cannot be reached \(ECONNREFUSED\)\.\n$/,
      ],
      [{ NODE_ENV: 'production' }, /^The settings are not right:\n( {2}[A-Z_]+ .*\n)+$/],
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
});

it.runIf(existsSync('/proc/self/task'))(
  'hashes on a thread for each processor, four at most, unless told otherwise, on Node',
  async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const countThreads = async (env: Record<string, string>) => {
      const service = await startService('node', await findFreePort(), { DATABASE_URL: url, ...env });
      const threads = readdirSync(`/proc/${service.child.pid}/task`).length;
      service.child.kill('SIGTERM');
      await service.exited;
      return threads;
    };
    const withOne = await countThreads({ UV_THREADPOOL_SIZE: '1' });
    const more = Math.min(4, availableParallelism()) - 1;
    expect((await countThreads({})) - withOne).toBe(more);
    expect((await countThreads({ UV_THREADPOOL_SIZE: '9' })) - withOne).toBe(8);
    await drop();
  },
);

it('opens and seals the vectors alike on Node and on Deno', async () => {
  const onNode = await checkVectors();
  expect(onNode.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(onNode.length).toBeGreaterThan(15);
  const deno = run('deno', ['test/support/vectors.ts']);
  expect(await deno.exited, deno.output()).toBe(0);
  expect(JSON.parse(deno.output())).toEqual(onNode);
});

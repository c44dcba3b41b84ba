// Long texts that stopped an earlier version for seconds, because the work grew with the square of their length.

import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { clientsOfSettings } from '../../server/clients/book.ts';
import { withNames } from '../../server/identity/password/password-check.ts';
import { openApp } from '../support/app/app.ts';
import { openBuiltPasswordCheck, worstName, worstPassword } from '../support/faults/new-passwords.ts';
import { measureLeastWait, measureWait } from '../support/faults/waits.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const threadClock = '/proc/thread-self/schedstat';
/** Returns the CPU time of the calling thread, in milliseconds. Other programs on the machine do not change it. */
const readThreadMs = () => Number(readFileSync(threadClock, 'utf8').split(' ')[0]) / 1e6;
const readProcessMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

// Contract 9.246.
it.runIf(existsSync(threadClock))(
  'a name that makes a new password slow to check costs the thread that answers under 5 ms of a processor',
  async () => {
    const check = openBuiltPasswordCheck();
    await check.load();
    const given = withNames(app.config, clientsOfSettings(app.config), {
      password: worstPassword,
      name: worstName,
      email: 'slow@x.test',
    });
    const measure = async (atOnce: number) => {
      const before = readThreadMs();
      const faults = await Promise.all(Array.from({ length: atOnce }, () => check.findFault(given)));
      const cost = (readThreadMs() - before) / atOnce;
      for (const fault of faults) expect(fault).toContain('too easy to guess');
      return cost;
    };
    const start = { process: readProcessMs(), thread: readThreadMs() };
    const alone: number[] = [];
    for (let round = 0; round < 9; round++) alone.push(await measure(1));
    // Takes the median, because this thread sometimes does other work, such as vitest's.
    expect(alone.sort((one, other) => one - other)[4]).toBeLessThan(5);
    expect(await measure(16)).toBeLessThan(5);
    // The check runs on another thread.
    expect(readProcessMs() - start.process).toBeGreaterThan(5 * (readThreadMs() - start.thread));
    await check.close();
  },
);

it('the check of new passwords is loaded before the first request', async () => {
  const check = openBuiltPasswordCheck();
  const start = readProcessMs();
  await check.load();
  const loaded = readProcessMs();
  await check.findFault(
    withNames(app.config, clientsOfSettings(app.config), {
      password: 'seven quiet lanterns',
      email: 'x@x.test',
      name: 'Zoe',
    }),
  );
  expect(readProcessMs() - loaded).toBeLessThan((loaded - start) / 2);
  await check.close();
});

it('a thread that checks new passwords, and ends, is begun anew', async () => {
  const check = openBuiltPasswordCheck();
  const given = withNames(app.config, clientsOfSettings(app.config), {
    password: 'password1234',
    email: 'x@x.test',
    name: 'Zoe',
  });
  expect(await check.findFault(given)).toContain('too easy to guess');
  await check.close();
  expect(await check.findFault(given)).toContain('too easy to guess');
  await check.close();
});

const han = Array.from({ length: 20_900 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('');
const marks = '\u0315\u0300\u05b0\u0321'.repeat(7_900);

it.each([
  ['an address', { email: `a@${han}`, password: 'wrong' }],
  ['a password', { email: 'customer@example.test', password: marks }],
])('three connections that send %s of 64 KiB keep nobody waiting', async (_, fields) => {
  const body = Object.entries(fields)
    .map((field) => field.join('='))
    .join('&');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: app.config.issuer };
  const attack = async () => {
    const answer = await app.send('/login', { method: 'POST', body, headers });
    expect(answer.status).toBe(401);
  };
  await attack();
  expect(await measureWait(app, () => Promise.all([attack(), attack(), attack()]))).toBeLessThan(100);
});

it('deep words of superjson about what is undefined keep nobody waiting', async () => {
  const cookie = await app.login('customer@example.test');
  const [depth, count] = [8_000, 1_700];
  const path = Array(depth - 1)
    .fill('0')
    .join('.');
  const leaves = Array.from({ length: count }, (_, at) => `"${at.toString(36)}":["undefined"]`).join();
  const body = `{"json":${'['.repeat(depth)}${']'.repeat(depth)},"meta":{"values":{"${path}":{${leaves}}}}}`;
  expect(body.length).toBeLessThan(65_536);
  const headers = { 'content-type': 'application/json' };
  const attack = async () => {
    const { status } = await app.send('/trpc/profile.update', { method: 'POST', body, headers, cookie });
    expect(status).toBe(400);
  };
  expect(await measureLeastWait(app, attack)).toBeLessThan(50);
});

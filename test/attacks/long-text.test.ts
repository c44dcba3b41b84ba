// Texts so long that work on them takes the square of their length: each of these once stopped the service for seconds.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPasswordFault } from '../../server/identity/password/passwords.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { measureLeastWait, measureWait } from '../support/faults/waits.ts';
import { readToken } from '../support/people/kept-mail.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

it('the check of new passwords is loaded before the first request', async () => {
  const { user, system } = process.cpuUsage();
  await findPasswordFault('seven quiet lanterns', { config: app.config, email: 'x@x.test', name: 'Zoe' });
  const took = process.cpuUsage({ user, system });
  // Loading it takes 100 ms of a processor.
  expect((took.user + took.system) / 1_000).toBeLessThan(60);
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

it('a name that makes a new password slow to check keeps nobody waiting', async () => {
  const other = await openBackend({ databaseUrl: app.databaseUrl });
  const email = 'slow@example.test';
  await app.send('/signup', { form: { name: 'Nia', email } });
  const token = await readToken(other, email, 'sign_up');
  let name = '111';
  for (let length = 4; name.length + 1 + length <= 200; length++) name += ` ${'1'.repeat(length)}`;
  const form = { name, newPassword: `${'1'.repeat(58)}qwerty` };
  const attack = async () => {
    const { status, text } = await app.send(`/signup/confirm?token=${token}`, { form });
    expect(status).toBe(422);
    expect(text).toContain('too easy to guess');
  };
  expect(await measureLeastWait(app, attack)).toBeLessThan(50);
  await other.close();
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

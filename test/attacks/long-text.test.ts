// Texts so long that work on them takes the square of their length: each of these once stopped the service for seconds.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApp, type TestApp } from '../support/app.ts';
import { measureWait } from '../support/waits.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

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

// An authenticator app, as RFC 6238 says, and somebody who uses it.
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { type Answer, locationOf } from '../app/app.ts';
import { type Browser, fieldOf } from '../app/visitor.ts';

export const page = '/profile/authenticator';

/** What the app shows for a secret in base32, at that time. */
export function showCode(secret: string, at: number): string {
  const bits = [...secret.replace(/\s/g, '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const digest = createHmac('sha1', key).update(step).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

/** A wrong code: none of the secret's codes within a minute of that time. */
export function wrongCode(secret: string, at: number): string {
  const right = [-60_000, -30_000, 0, 30_000, 60_000].map((ms) => showCode(secret, at + ms));
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? ''
  );
}

/** The key and the hidden field of the page that offers a secret. */
export function readOffer(answer: Answer): { secret: string; sealed: string } {
  const secret = /<code class="key">([A-Z2-7 ]+)</.exec(answer.text)?.[1] ?? '';
  expect(secret.replace(/\s/g, '')).toHaveLength(32);
  return { secret, sealed: fieldOf(answer, 'sealed').value ?? '' };
}

export const readCodes = ({ text }: Answer) =>
  [...text.matchAll(/<li><code>([0-9a-z-]+)<\/code><\/li>/g)].map(([, code = '']) => code);

/** Sets an app up, as somebody who has just logged in. */
export async function setUp(browser: Browser, at: number): Promise<{ secret: string; codes: string[] }> {
  const { secret, sealed } = readOffer(await browser.send(page, { form: { intent: 'set-up' } }));
  const added = await browser.send(page, { form: { intent: 'add', sealed, code: showCode(secret, at) } });
  expect(added.status).toBe(200);
  const codes = readCodes(added);
  expect(codes).toHaveLength(10);
  return { secret, codes };
}

/** Gives the code at the page where the login of this browser waits. */
export const enterCode = (browser: Browser, code: string, path = '/login/code') =>
  browser.send(path, { form: { code } });

export function expectCodeAsked(answer: Answer, next = '/profile'): void {
  expect(answer.status).toBe(303);
  expect(locationOf(answer).pathname).toBe('/login/code');
  expect(locationOf(answer).searchParams.get('next')).toBe(next);
  expect(answer.headers.getSetCookie().join()).not.toMatch(/identity_session/);
}

/** The payload that the client gets. */
export function payloadOf(answer: Answer) {
  const payload = locationOf(answer).searchParams.get('payload');
  return payload === null ? undefined : JSON.parse(Buffer.from(payload, 'base64url').toString());
}

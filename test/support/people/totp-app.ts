// An authenticator app by RFC 6238, and somebody who uses it.
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { type Answer, locationOf } from '../app/app.ts';
import type { Browser } from '../app/visitor.ts';

export const page = '/profile/authenticator';
/** The page that shows the secret and accepts its code. */
export const setUpPage = '/profile/authenticator/set-up';

/** Returns what the app shows for a secret in base32, at that time. */
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

/** A wrong code: none of the secret's codes within seven minutes of that time. */
export function wrongCode(secret: string, at: number): string {
  const right = Array.from({ length: 29 }, (_, step) => showCode(secret, at + (step - 14) * 30_000));
  return (
    ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code)) ?? ''
  );
}

/** The secret on the page that shows it; undefined if there is none. */
export const readSecret = ({ text }: Answer): string | undefined =>
  /<code class="key">([A-Z2-7 ]{39})</.exec(text)?.[1];

/** Begins to set up an app. The result is the secret. */
export async function startSetUp(browser: Pick<Browser, 'send'>): Promise<string> {
  const started = await browser.send(page, { form: { intent: 'set-up' } });
  expect([started.status, started.headers.get('location')]).toEqual([303, setUpPage]);
  const secret = readSecret(await browser.send(setUpPage)) ?? '';
  expect(secret).not.toBe('');
  return secret;
}

export const giveCode = (browser: Pick<Browser, 'send'>, code: string): Promise<Answer> =>
  browser.send(setUpPage, { form: { code } });

export const readCodes = ({ text }: Answer) =>
  [...text.matchAll(/<li><code>([0-9a-z-]+)<\/code><\/li>/g)].map(([, code = '']) => code);

/** Sets an app up, as somebody who has just logged in. */
export async function setUp(browser: Browser, at: number): Promise<{ secret: string; codes: string[] }> {
  const secret = await startSetUp(browser);
  const added = await giveCode(browser, showCode(secret, at));
  expect(added.status).toBe(200);
  const codes = readCodes(added);
  expect(codes).toHaveLength(10);
  return { secret, codes };
}

export const enterCode = (browser: Browser, code: string, path = '/login/code') =>
  browser.send(path, { form: { code } });

export function expectCodeAsked(answer: Answer, next = '/profile'): void {
  expect(answer.status).toBe(303);
  expect(locationOf(answer).pathname).toBe('/login/code');
  expect(locationOf(answer).searchParams.get('next')).toBe(next);
  expect(answer.headers.getSetCookie().join()).not.toMatch(/identity_session/);
}

export function payloadOf(answer: Answer) {
  const payload = locationOf(answer).searchParams.get('payload');
  return payload === null ? undefined : JSON.parse(Buffer.from(payload, 'base64url').toString());
}

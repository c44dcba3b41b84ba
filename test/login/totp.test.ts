import { describe, expect, it } from 'vitest';
import { seal, unseal } from '../../server/basics/sealing.ts';
import { createRecoveryCodes, hashRecoveryCode } from '../../server/identity/factor/recovery-codes.ts';
import { buildKeyUri, createSecret, findStep, spellSecret } from '../../server/identity/factor/totp.ts';
import { readTypedCode } from '../../server/identity/factor/typed-code.ts';
import { showCode } from '../support/people/totp-app.ts';

describe('a code (contract 9.69)', () => {
  // The secret of RFC 6238, appendix B, for SHA-1. The codes there have eight digits. Ours are the last six.
  const secret = new TextEncoder().encode('12345678901234567890');
  const vectors = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ] as const;

  it.each(vectors)('is that of RFC 6238 at %i', async (seconds, code) => {
    const at = new Date(seconds * 1_000);
    expect(await findStep(secret, code.slice(2), at)).toBe(Math.floor(seconds / 30));
    expect(showCode(spellSecret(secret), at.getTime())).toBe(code.slice(2));
  });

  it('counts in its own 30 seconds, and in those before and after (contract 9.69)', async () => {
    const code = '287082';
    const found = [-30, 0, 29, 30, 59, 60, 89].map(async (more) =>
      findStep(secret, code, new Date((30 + more) * 1_000)),
    );
    expect(await Promise.all(found)).toEqual([1, 1, 1, 1, 1, undefined, undefined]);
  });

  it.each(['', '28708', '2870822', '94287082', '28708a'])('is not %j', async (code) => {
    expect(await findStep(secret, code, new Date(59_000))).toBeUndefined();
  });
});

it('a secret is 160 random bits, and the same in the QR code and to type', () => {
  const secret = createSecret();
  expect(secret).toHaveLength(20);
  expect(createSecret()).not.toEqual(secret);
  const spelled = spellSecret(secret);
  expect(spelled).toMatch(/^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/);
  const uri = new URL(buildKeyUri(secret, { issuer: 'Ann & Co: Login', email: 'a+b@example.test' }));
  expect(decodeURIComponent(uri.pathname)).toContain('Ann & Co  Login:a+b@example.test');
  expect(uri.search).not.toContain('+');
  expect(uri.searchParams.get('secret')).toBe(spelled.replaceAll(' ', ''));
});

// Contract 9.247.
it('every decimal digit of Unicode is the digit that it stands for, and signs are left out', () => {
  const digits: string[] = [];
  for (let point = 0; point <= 0x10ffff; point++) {
    const sign = String.fromCodePoint(point);
    if (/\p{Nd}/u.test(sign)) digits.push(sign);
  }
  expect(digits.length).toBeGreaterThan(600);
  expect(digits.map(readTypedCode).join('')).toBe('0123456789'.repeat(digits.length / 10));
  expect(readTypedCode(' 1-2.3–4·5\u200f6\u202e7\u00a08_9\ufe0f0²½①')).toBe('1234567890');
  expect(readTypedCode('７ｋ２Ｍ-0qFX')).toBe('7k2m0qfx');
});

it('recovery codes are ten, of 60 bits each, and may be typed in any way that reads the same', () => {
  const codes = createRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$/);
  const hash = hashRecoveryCode('ann', '01ab-cdef-gh23');
  for (const spelling of ['01ABCDEFGH23', ' 01ab cdef gh23 ', 'OIab–cdef–gh23', 'oLab-cdef-gh23'])
    expect(hashRecoveryCode('ann', spelling), spelling).toEqual(hash);
  expect(hashRecoveryCode('ben', '01ab-cdef-gh23')).not.toEqual(hash);
  expect(hashRecoveryCode('ann', '01ab-cdef-gh24')).not.toEqual(hash);
});

describe('what is sealed', () => {
  const key = (byte: number) => new Uint8Array(32).map((_, at) => byte + at);
  const [old, fresh] = [key(1), key(2)];
  const plain = new TextEncoder().encode('a secret of twenty b');

  it('opens for what it was sealed for, and looks different each time', async () => {
    const sealed = await seal([old], 'ann', plain);
    expect(await unseal([old], 'ann', sealed)).toEqual({ plain, isCurrent: true });
    expect(await seal([old], 'ann', plain)).not.toEqual(sealed);
    expect(sealed).toHaveLength(12 + 20 + 16);
  });

  it('opens during a rotation, which says when to seal it again', async () => {
    const sealed = await seal([old, fresh], 'ann', plain);
    expect(await unseal([fresh, old], 'ann', sealed)).toEqual({ plain, isCurrent: false });
    expect(await unseal([fresh], 'ann', sealed)).toBeUndefined();
  });

  it('does not open for another user, nor after any bit of it was changed', async () => {
    const sealed = await seal([old], 'ann', plain);
    expect(await unseal([old], 'ben', sealed)).toBeUndefined();
    for (const at of sealed.keys()) {
      const changed = sealed.map((byte, index) => (index === at ? byte ^ 1 : byte));
      expect(await unseal([old], 'ann', changed), String(at)).toBeUndefined();
    }
    expect(await unseal([old], 'ann', new Uint8Array())).toBeUndefined();
  });
});

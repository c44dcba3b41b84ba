// Shows that the attacks of worst-text and long-text succeed, and so would be noticed, if the service checks the length of a
// text last.
import { describe, expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { measureWait } from '../support/faults/waits.ts';
import { fitTo, spellForm, worstBytes, worstTexts } from '../support/faults/worst-texts.ts';
import { shared } from '../support/run/shared.ts';

// In this build, the functions that cut a text or check its length do nothing. Only later rules refuse a text that is too long.
vi.mock('../../server/basics/text.ts', async (importOriginal) => {
  const real = await importOriginal<typeof import('../../server/basics/text.ts')>();
  const textBounds = Object.fromEntries(Object.keys(real.textBounds).map((name) => [name, 2 ** 30]));
  return { ...real, textBounds, cutText: (text: string) => text, cutPairs: (pairs: unknown) => pairs };
});

const app = shared(openApp);

describe('where the length comes last, somebody waits for more than 100 ms', () => {
  it.each([
    ['an address', 'email', 'a domain of different letters', { password: 'wrong' }],
    ['a password', 'password', 'combining marks', { email: 'customer@example.test' }],
  ])('for %s', async (_, name, kind, others) => {
    // Uses three quarters of the longest text. The longest one would delay other tests on this machine.
    const body = spellForm({
      ...others,
      [name]: fitTo(worstTexts[kind] ?? '', Math.floor(worstBytes * 0.75)),
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: app.config.issuer };
    const attack = () => app.send('/login', { method: 'POST', body, headers });
    expect(await measureWait(app, attack)).toBeGreaterThan(100);
  });
});

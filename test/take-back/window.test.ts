import { describe, expect, it } from 'vitest';
import type { TakeBackChange, Told } from '../../db/take-back-changes.ts';
import { findWindow } from '../../server/identity/take-back-window.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const now = new Date('2026-03-01T00:00:00Z');
const days = (count: number) => new Date(now.getTime() + count * dayMs);
const clock: Parameters<typeof findWindow>[2] = { user: { suspendedAt: null }, now };

/** Told to `email` so many days from now; `late`: how long its user was suspended since. */
const told = (
  email: string,
  at: number,
  { late = 0, what = 'passkey_added' as Told } = {},
): TakeBackChange => ({
  id: `${email} ${at}`,
  ...{ email, what, at: days(at), expiresAt: days(at + 7 + late), device: null },
});

const sinceOf = (changes: TakeBackChange[], given = clock) => {
  const window = findWindow(changes, 'a', given);
  return window && (window.since.getTime() - now.getTime()) / dayMs;
};

describe('the window', () => {
  it.each([
    ['begins with the change that was told', [-3], -3],
    ['begins with the first of several', [-6, -3], -6],
    ['begins seven days before the oldest whose link still works', [-13, -6], -13],
    ['and not earlier', [-13.01, -6], -6],
    ['goes no further back than that, however many there were', [-18, -12, -6], -12],
    ['is none once no link works', [-12, -7], undefined],
    ['lasts to the last moment of a link', [-6.999], -6.999],
  ])('%s', (_, at, since) => {
    expect(sinceOf(at.map((each) => told('a', each)))).toBe(since);
  });

  it('does not begin with what was told to another mailbox, but says what happened in it', () => {
    const changes = [told('b', -6), told('a', -3), told('b', -2)];
    expect(sinceOf(changes)).toBe(-3);
    expect(findWindow(changes, 'a', clock)?.happened).toEqual(
      [-3, -2].map((at) => ({ what: 'passkey_added', at: days(at), device: null })),
    );
  });

  it('does not grow by the time of a suspension', () => {
    // Twenty days of it, between the second and today.
    const late = { late: 20 };
    expect(sinceOf([told('a', -35, late), told('a', -27.5, late), told('a', -24, late)])).toBe(-27.5);
    expect(sinceOf([told('a', -35, late), told('a', -5)])).toBe(-5);
    expect(sinceOf([told('a', -27.5, late), told('a', -5)])).toBe(-27.5);
  });

  it('is the same while the user is suspended', () => {
    const far = (Date.parse('3000-01-01T00:00:00Z') - now.getTime()) / dayMs;
    const suspended = { user: { suspendedAt: now }, now };
    const changes = [-13, -6].map((at) => told('a', at, { late: far }));
    expect(sinceOf(changes, suspended)).toBe(-13);
    expect(sinceOf([told('a', -7, { late: far })], suspended)).toBe(undefined);
  });
});

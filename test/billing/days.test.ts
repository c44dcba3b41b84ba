import { describe, expect, it } from 'vitest';
import { addDays, dayIn, startOfDay } from '../../server/billing/values/days.ts';

describe('a day in a time zone', () => {
  it.each([
    ['Europe/Berlin', '2026-12-31T22:59:59.999Z', '2026-12-31'],
    ['Europe/Berlin', '2026-12-31T23:00:00.000Z', '2027-01-01'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '2027-01-01'],
    ['Pacific/Pago_Pago', '2027-01-01T10:59:59.999Z', '2026-12-31'],
    ['Asia/Kathmandu', '2026-06-30T18:15:00.000Z', '2026-07-01'],
  ])('%s at %s is %s', (zone, at, day) => {
    expect(dayIn(zone, new Date(at))).toBe(day);
  });

  it.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00:00.000Z'],
    ['Asia/Kolkata', '2026-01-01', '2025-12-31T18:30:00.000Z'],
    // Clocks went from 00:00 to 01:00: there was no midnight.
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
    // This day does not exist there, so the next one begins.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
    ['Pacific/Kiritimati', '2027-01-01', '2026-12-31T10:00:00.000Z'],
  ])('in %s, %s begins at %s', (zone, day, at) => {
    expect(startOfDay(zone, day).toISOString()).toBe(at);
  });

  it('is followed by the next, over months, leap years and New Year', () => {
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
    expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
  });
});

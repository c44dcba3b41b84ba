import { describe, expect, it } from 'vitest';
import { addDays, alignToZone, dayIn, startOfDay } from '../../server/billing/values/days.ts';
import { endOfPeriod } from '../../server/billing/values/periods.ts';
import { fc } from '../support/run/random.ts';

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

describe('an instant that is aligned with a time zone', () => {
  it.each([
    ['Europe/Berlin', '2027-01-31T10:00:00.000Z', '2027-01-31T10:00:00.000Z', 'the usual case'],
    ['Europe/Berlin', '2027-01-31T21:59:59.999Z', '2027-01-31T21:59:59.999Z', 'the last one of a day'],
    ['Europe/Berlin', '2027-01-31T22:30:00.000Z', '2027-01-31T21:59:59.999Z', 'the next day in summer'],
    ['Europe/Berlin', '2027-01-31T23:00:00.000Z', '2027-02-01T00:00:00.000Z', 'the next day'],
    ['Europe/Berlin', '2027-06-30T22:30:00.000Z', '2027-07-01T00:00:00.000Z', 'the next day, in summer'],
    ['Europe/London', '2026-12-31T23:30:00.000Z', '2026-12-31T22:59:59.999Z', 'a year that has not begun'],
    ['Africa/Casablanca', '2027-01-31T23:30:00.000Z', '2027-02-01T00:00:00.000Z', 'another time in Ramadan'],
    ['America/New_York', '2027-02-01T03:00:00.000Z', '2027-01-31T23:59:59.999Z', 'the day before'],
    ['America/New_York', '2027-01-31T04:30:00.000Z', '2027-01-30T23:59:59.999Z', 'the day before in winter'],
    ['Asia/Kathmandu', '2027-01-31T18:15:00.000Z', '2027-02-01T00:00:00.000Z', 'a quarter of an hour'],
    ['Pacific/Auckland', '2027-01-31T11:30:00.000Z', '2027-02-01T00:00:00.000Z', 'half a day'],
    ['UTC', '2027-01-31T23:59:59.999Z', '2027-01-31T23:59:59.999Z', 'no difference'],
  ])('in %s of %s is %s: %s', (zone, at, aligned) => {
    expect(alignToZone(zone, new Date(at)).toISOString()).toBe(aligned);
    expect(alignToZone(zone, new Date(aligned)).toISOString()).toBe(aligned);
  });

  it('leads by UTC to the same day in the zone, month by month, through every change of the clocks (contract 7.549)', () => {
    const zones = [
      'Europe/Berlin',
      'Europe/Lisbon',
      'Europe/Athens',
      'Africa/Casablanca',
      'America/Sao_Paulo',
    ];
    const more = [
      'America/Los_Angeles',
      'Asia/Kolkata',
      'Pacific/Auckland',
      'Pacific/Kiritimati',
      'Pacific/Pago_Pago',
    ];
    const anyStart = fc.date({
      min: new Date('2024-01-01T00:00:00Z'),
      max: new Date('2030-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(fc.constantFrom(...zones, ...more), anyStart, (zone, at) => {
        let start = alignToZone(zone, at);
        expect(dayIn(zone, start)).toBe(dayIn(zone, at));
        const anchorDay = Number(dayIn(zone, at).slice(8));
        for (let month = 0; month < 14; month++) {
          const [year, of] = dayIn(zone, start).split('-').map(Number) as [number, number];
          start = endOfPeriod(start, 'month', anchorDay);
          const lastDay = new Date(Date.UTC(year, of + 1, 0)).getUTCDate();
          const next = new Date(Date.UTC(year, of, Math.min(anchorDay, lastDay)));
          expect(dayIn(zone, start)).toBe(next.toISOString().slice(0, 10));
        }
      }),
    );
  });
});

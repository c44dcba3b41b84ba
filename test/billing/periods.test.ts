import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endOfPeriod } from '../../server/billing/values/periods.ts';
import { fc } from '../support/run/random.ts';

type Interval = 'month' | 'year';

/** The starts of all periods but the first. The first start sets the anchor day. */
function follow(first: string, intervals: Interval[]): string[] {
  const anchorDay = new Date(first).getUTCDate();
  let start = new Date(first);
  return intervals.map((interval) => {
    start = endOfPeriod(start, interval, anchorDay);
    return start.toISOString();
  });
}

const repeat = (interval: Interval, times: number) => Array.from({ length: times }, () => interval);

// biome-ignore format: a table of cases is read by column
const months: [about: string, first: string, next: string[]][] = [
  ['31 January through a year', '2026-01-31T10:00:00.000Z', [
    '2026-02-28T10:00:00.000Z', '2026-03-31T10:00:00.000Z', '2026-04-30T10:00:00.000Z',
    '2026-05-31T10:00:00.000Z', '2026-06-30T10:00:00.000Z', '2026-07-31T10:00:00.000Z',
    '2026-08-31T10:00:00.000Z', '2026-09-30T10:00:00.000Z', '2026-10-31T10:00:00.000Z',
    '2026-11-30T10:00:00.000Z', '2026-12-31T10:00:00.000Z', '2027-01-31T10:00:00.000Z',
  ]],
  ['31 January of a leap year', '2028-01-31T10:00:00.000Z', ['2028-02-29T10:00:00.000Z', '2028-03-31T10:00:00.000Z']],
  ['30 January', '2026-01-30T10:00:00.000Z', ['2026-02-28T10:00:00.000Z', '2026-03-30T10:00:00.000Z']],
  ['30 January of a leap year', '2028-01-30T10:00:00.000Z', ['2028-02-29T10:00:00.000Z', '2028-03-30T10:00:00.000Z']],
  ['29 January', '2026-01-29T10:00:00.000Z', ['2026-02-28T10:00:00.000Z', '2026-03-29T10:00:00.000Z']],
  ['29 January of a leap year', '2028-01-29T10:00:00.000Z', ['2028-02-29T10:00:00.000Z', '2028-03-29T10:00:00.000Z']],
  ['28 February', '2026-02-28T10:00:00.000Z', ['2026-03-28T10:00:00.000Z', '2026-04-28T10:00:00.000Z']],
  ['the last day of a month of 30 days', '2026-04-30T10:00:00.000Z', ['2026-05-30T10:00:00.000Z', '2026-06-30T10:00:00.000Z']],
  ['31 December', '2026-12-31T10:00:00.000Z', ['2027-01-31T10:00:00.000Z', '2027-02-28T10:00:00.000Z']],
  ['the first of a month', '2026-11-01T10:00:00.000Z', ['2026-12-01T10:00:00.000Z', '2027-01-01T10:00:00.000Z']],
  ['the first instant of a day', '2026-01-31T00:00:00.000Z', ['2026-02-28T00:00:00.000Z', '2026-03-31T00:00:00.000Z']],
  ['the last instant of a year', '2025-12-31T23:59:59.999Z', ['2026-01-31T23:59:59.999Z', '2026-02-28T23:59:59.999Z']],
  ['a date before both changes of summer time', '2026-03-08T02:30:00.000Z', [
    '2026-04-08T02:30:00.000Z', '2026-05-08T02:30:00.000Z', '2026-06-08T02:30:00.000Z',
    '2026-07-08T02:30:00.000Z', '2026-08-08T02:30:00.000Z', '2026-09-08T02:30:00.000Z',
    '2026-10-08T02:30:00.000Z', '2026-11-08T02:30:00.000Z', '2026-12-08T02:30:00.000Z',
  ]],
  ['31 January of a century that is no leap year', '2100-01-31T10:00:00.000Z', ['2100-02-28T10:00:00.000Z', '2100-03-31T10:00:00.000Z']],
  ['31 January of a century that is a leap year', '2000-01-31T10:00:00.000Z', ['2000-02-29T10:00:00.000Z', '2000-03-31T10:00:00.000Z']],
  ['a date before 1970', '1967-12-31T22:15:30.125Z', ['1968-01-31T22:15:30.125Z', '1968-02-29T22:15:30.125Z', '1968-03-31T22:15:30.125Z']],
  ['the last instant before 1970', '1969-12-31T23:59:59.999Z', ['1970-01-31T23:59:59.999Z', '1970-02-28T23:59:59.999Z']],
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  ['a date in the first century', '0098-12-31T10:00:00.000Z', ['0099-01-31T10:00:00.000Z', '0099-02-28T10:00:00.000Z']],
];

// biome-ignore format: a table of cases is read by column
const years: [about: string, first: string, next: string[]][] = [
  ['a common day', '2026-06-15T10:00:00.000Z', ['2027-06-15T10:00:00.000Z', '2028-06-15T10:00:00.000Z']],
  ['29 February', '2024-02-29T10:00:00.000Z', [
    '2025-02-28T10:00:00.000Z', '2026-02-28T10:00:00.000Z', '2027-02-28T10:00:00.000Z',
    '2028-02-29T10:00:00.000Z', '2029-02-28T10:00:00.000Z',
  ]],
  ['29 February before a century that is no leap year', '2096-02-29T10:00:00.000Z', [
    '2097-02-28T10:00:00.000Z', '2098-02-28T10:00:00.000Z', '2099-02-28T10:00:00.000Z',
    '2100-02-28T10:00:00.000Z', '2101-02-28T10:00:00.000Z', '2102-02-28T10:00:00.000Z',
    '2103-02-28T10:00:00.000Z', '2104-02-29T10:00:00.000Z',
  ]],
  ['28 February', '2027-02-28T10:00:00.000Z', ['2028-02-28T10:00:00.000Z', '2029-02-28T10:00:00.000Z']],
  ['31 December', '2026-12-31T23:59:59.999Z', ['2027-12-31T23:59:59.999Z', '2028-12-31T23:59:59.999Z']],
  ['29 February before 1970', '1968-02-29T10:00:00.000Z', ['1969-02-28T10:00:00.000Z', '1970-02-28T10:00:00.000Z']],
];

// The test run is in Asia/Kathmandu. The other zones change their clocks, and Apia once skipped a day.
describe.each([
  ['Asia/Kathmandu', 345],
  ['America/New_York', -300],
  ['Europe/Berlin', 60],
  ['Pacific/Apia', 780],
])('in the time zone %s, a billing period', (zone, minutesEast) => {
  const usual = process.env.TZ;
  beforeAll(() => {
    process.env.TZ = zone;
    expect(new Date('2026-01-31T10:00:00.000Z').getTimezoneOffset()).toBe(-minutesEast);
  });
  afterAll(() => {
    process.env.TZ = usual;
  });

  it.each(months)('repeats monthly from %s', (_, first, next) => {
    expect(follow(first, repeat('month', next.length))).toEqual(next);
  });

  it.each(years)('repeats yearly from %s', (_, first, next) => {
    expect(follow(first, repeat('year', next.length))).toEqual(next);
  });

  it('keeps its anchor day when months and years alternate', () => {
    expect(follow('2027-01-31T10:00:00.000Z', ['month', 'year', 'month', 'year', 'month'])).toEqual([
      '2027-02-28T10:00:00.000Z',
      '2028-02-29T10:00:00.000Z',
      '2028-03-31T10:00:00.000Z',
      '2029-03-31T10:00:00.000Z',
      '2029-04-30T10:00:00.000Z',
    ]);
  });

  it('never skips or repeats a month or year, and always starts on the day its anchor allows', () => {
    fc.assert(
      fc.property(anyFirst, anyIntervals, (first, intervals) => {
        const starts = [first.toISOString(), ...follow(first.toISOString(), intervals)].map(readStart);
        for (const [at, interval] of intervals.entries()) {
          const [start, end] = [starts[at], starts[at + 1]] as [Start, Start];
          const days = (end.ms - start.ms) / 86_400_000;
          const [least, most] = interval === 'month' ? [28, 31] : [365, 366];
          expect(days).toBeGreaterThanOrEqual(least);
          expect(days).toBeLessThanOrEqual(most);
          expect(end.month - start.month).toBe(interval === 'month' ? 1 : 12);
          expect(end.day).toBe(Math.min(first.getUTCDate(), daysOf(end.month)));
          expect(end.time).toBe(start.time);
        }
      }),
    );
  });
});

it('finding the end of a period leaves its start unchanged', () => {
  const start = new Date('2026-01-31T10:00:00.000Z');
  endOfPeriod(start, 'month', 31);
  expect(start.toISOString()).toBe('2026-01-31T10:00:00.000Z');
});

const anyFirst = fc.date({
  min: new Date('1900-01-01T00:00:00.000Z'),
  max: new Date('2200-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const anyIntervals = fc.array(fc.constantFrom<Interval>('month', 'year'), { minLength: 1, maxLength: 40 });

/** `month` is counted from the year 0. */
type Start = { ms: number; month: number; day: number; time: string };

/** Reads the text of a date, so that this test does not repeat the arithmetic under test. */
function readStart(text: string): Start {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  return { ms: Date.parse(text), month: year * 12 + month - 1, day, time: text.slice(10) };
}

function daysOf(month: number): number {
  const year = Math.floor(month / 12);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month % 12] as number;
}

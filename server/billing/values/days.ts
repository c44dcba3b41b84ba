// Calculates with days in a time zone, written like 2026-11-26.

/** `zone` is an IANA name. */
export function dayIn(zone: string, at: Date): string {
  return dayWriter(zone)(at.getTime());
}

/** Returns false for a day that does not exist, such as 2026-02-30. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);

/** Returns midnight in the zone, or a later time if clocks go forward at midnight. */
export function startOfDay(zone: string, day: string): Date {
  const write = dayWriter(zone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // No time zone is more than 16 hours from UTC.
  let [before, from] = [midnight - 16 * hourMs, midnight + 16 * hourMs];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (write(middle) < day) before = middle;
    else from = middle;
  }
  return new Date(from);
}

export function noonOf(zone: string, day: string): Date {
  // Clocks differ from UTC by whole quarters of an hour, and by less than 16 hours. So this tries each quarter.
  const earliest = Date.parse(`${day}T12:00:00Z`) - 16 * hourMs;
  const write = dayWriter(zone);
  const hour = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hour: '2-digit',
    hourCycle: 'h23',
    numberingSystem: 'latn',
  });
  for (let at = earliest; at < earliest + 32 * hourMs; at += hourMs / 4)
    if (write(at) === day && hour.format(at) === '12') return new Date(at);
  return new Date(earliest + 16 * hourMs);
}

/** Returns the last day of a period that ends at this instant. The next period begins on the day after it. */
export const lastDayBefore = (zone: string, endsAt: Date): string => addDays(dayIn(zone, endsAt), -1);

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * hourMs).toISOString().slice(0, 10);
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Returns the time nearest to `at`, on the same day of the zone, at which UTC and the zone have the same date in summer and in
 * winter. From that time on, a month later in UTC is also a month later in the zone.
 */
export function alignToZone(zone: string, at: Date): Date {
  const midnight = Date.parse(`${dayIn(zone, at)}T00:00:00Z`);
  // Reads the offset every ten days for a year. This misses no change of the clocks, because the clocks stay changed for longer
  // than ten days: in summer time, and in Ramadan, for which Morocco changes its clocks.
  const readOffset = offsetReader(zone);
  const offsets = Array.from({ length: 37 }, (_, n) => readOffset(at.getTime() + n * 10 * dayMs));
  const least = Math.max(0, -Math.min(...offsets));
  const most = dayMs - 1 - Math.max(0, ...offsets);
  return new Date(midnight + Math.max(least, Math.min(at.getTime() - midnight, most)));
}

/**
 * Returns a function that says how far the clocks of the zone are ahead of UTC at an instant. All values are in milliseconds.
 */
function offsetReader(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  });
  return (at) => {
    const parts = format.formatToParts(at);
    const read = (name: string) => Number(parts.find(({ type }) => type === name)?.value);
    const [year, month, day] = [read('year'), read('month'), read('day')];
    const clock = Date.UTC(year, month - 1, day, read('hour'), read('minute'), read('second'));
    return clock - Math.floor(at / 1_000) * 1_000;
  };
}

function dayWriter(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (at) => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    return `${part.year?.padStart(4, '0')}-${part.month}-${part.day}`;
  };
}

// Days in a time zone, written as 2026-11-26. All functions are pure.

/** The day that it is in the zone, an IANA name, at that instant. */
export function dayIn(zone: string, at: Date): string {
  return dayWriter(zone)(at.getTime());
}

/** Whether the text is a day: 2026-02-30 is none. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);

/** The first instant of that day in the zone: midnight, or later if clocks are put forward then. */
export function startOfDay(zone: string, day: string): Date {
  const write = dayWriter(zone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // No zone is further from UTC.
  let [before, from] = [midnight - 16 * hourMs, midnight + 16 * hourMs];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (write(middle) < day) before = middle;
    else from = middle;
  }
  return new Date(from);
}

/** Noon of that day in the zone. */
export function noonOf(zone: string, day: string): Date {
  const local = `${day}T12`;
  // Clocks differ from UTC by whole quarters of an hour, and no zone is further from it.
  const earliest = Date.parse(`${day}T12:00:00Z`) - 16 * hourMs;
  const write = hourWriter(zone);
  for (let at = earliest; at < earliest + 32 * hourMs; at += hourMs / 4)
    if (write(at) === local) return new Date(at);
  return new Date(earliest + 16 * hourMs);
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * hourMs).toISOString().slice(0, 10);
}

const hourMs = 3_600_000;

function hourWriter(zone: string): (at: number) => string {
  const day = dayWriter(zone);
  const hour = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hour: '2-digit',
    hourCycle: 'h23',
    numberingSystem: 'latn',
  });
  return (at) => `${day(at)}T${hour.format(at)}`;
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

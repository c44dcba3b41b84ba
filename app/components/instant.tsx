import { useRootData } from '../root-data.ts';

const instants = new Map<string, Intl.DateTimeFormat>();
const shortDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const format =
    instants.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
      timeZone,
      timeZoneName: 'short',
    });
  instants.set(timeZone, format);
  return format;
}

/** A time in the zone that the reader has chosen. Otherwise it is in UTC, until app/enhance.js writes it in the browser's zone. */
export function Instant({ at }: { at: Date }) {
  const { timeZone } = useRootData() ?? {};
  return <time dateTime={at.toISOString()}>{formatIn(timeZone ?? 'UTC').format(at)}</time>;
}

/** A day that is the same in every time zone, such as the day of an invoice. */
export function Day({ at }: { at: Date }) {
  return <time dateTime={at.toISOString().slice(0, 10)}>{day.format(at)}</time>;
}

export function ShortDay({ at }: { at: Date }) {
  return <time dateTime={at.toISOString().slice(0, 10)}>{shortDay.format(at)}</time>;
}

// Times are in UTC here. app/enhance.js replaces them with the reader's local time.
const instant = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const shortDay = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function Instant({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{`${instant.format(at)} UTC`}</time>;
}

/** A day that is the same in every time zone, such as the day of an invoice. */
export function Day({ at }: { at: Date }) {
  return <time dateTime={at.toISOString().slice(0, 10)}>{day.format(at)}</time>;
}

export function ShortDay({ at }: { at: Date }) {
  return <time dateTime={at.toISOString().slice(0, 10)}>{shortDay.format(at)}</time>;
}

// In UTC. app/enhance.js replaces it with the time where the reader is.
const instant = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function Instant({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{`${instant.format(at)} UTC`}</time>;
}

/** A day that is the same for everybody, such as the day of an invoice. */
export function Day({ at }: { at: Date }) {
  return <time dateTime={at.toISOString().slice(0, 10)}>{day.format(at)}</time>;
}

// A fixed time zone and language, so that server and browser render the same text.
const instant = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function Instant({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{instant.format(at)} UTC</time>;
}

export function Day({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{day.format(at)}</time>;
}

import { z } from 'zod';

/** A day has 24 hours. A negative number of days gives an earlier time. */
export const daysAfter = (at: Date, days: number) => new Date(at.getTime() + days * 24 * 60 * 60 * 1_000);

/** RFC 3339 section 5.6 with `T` and `Z` in upper case, to the millisecond, in the years 1 to 9999 of UTC. */
export const instantSchema = z.iso
  .datetime({
    offset: true,
    error: ({ input }) =>
      input === undefined
        ? 'Required.'
        : 'Must be an RFC 3339 time with a time zone, such as 2026-01-01T00:00:00.000Z.',
    // If the text is no instant, the checks after this one must not run, because they compare instants.
    abort: true,
  })
  .max(64, { error: 'Must be an RFC 3339 time of at most 64 characters.', abort: true })
  .transform((text) => new Date(text))
  .refine((at) => /^(?!0000)\d{4}-/.test(Number.isNaN(at.getTime()) ? '' : at.toISOString()), {
    error: 'Must be in the years 1 to 9999.',
    abort: true,
  });

// Days in words, such as 26 December 2026.
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** Accepts a day such as 2026-12-26, or an instant, which means its day in UTC. */
export const sayDay = (at: Date | string): string => day.format(new Date(at));

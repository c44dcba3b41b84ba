// Days in words, such as 26 December 2026.
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** For a day such as 2026-12-26, or the day in UTC of an instant. */
export const sayDay = (at: Date | string): string => day.format(new Date(at));

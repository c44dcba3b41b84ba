// When something happened, and from what kind of browser, as an email says it.
import type { MailMessage } from './layout.ts';

const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export const sayInstant = (at: Date) => `${instant.format(at)} UTC`;

type Facts = { at: string; device: string | undefined; by?: string | undefined };

/** `at` is an ISO instant; `device` is a kind of browser, if a person did it; `by` is which of the staff did it. */
export function factsOf({ at, device, by }: Facts): MailMessage['facts'] {
  return [
    ['When', sayInstant(new Date(at))],
    ...(device ? [['Browser', device] as [string, string]] : []),
    ...(by ? [['Done by', by] as [string, string]] : []),
  ];
}

// When something happened, and from what kind of browser, as an email says it.
import type { MailMessage } from './layout.ts';

const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

export const sayInstant = (at: Date) => `${instant.format(at)} UTC`;

/** `at` is an ISO instant; `device` is a kind of browser, if a person did it. */
export function factsOf({ at, device }: { at: string; device: string | undefined }): MailMessage['facts'] {
  const when: [string, string] = ['When', sayInstant(new Date(at))];
  return device ? [when, ['Browser', device]] : [when];
}

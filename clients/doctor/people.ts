// The doctor's test people. All runs at a client use the same people, so that the client does not collect more and more of
// them. But a run with events has people of its own, and at its end tells the client to forget them. The ids of test people are
// of 1970, so no real person has such an id. Their email addresses can receive no mail.

import { sha256 } from 'oslo/crypto';
import { encodeHex } from 'oslo/encoding';
import type { StandardProfile } from '../../server/sso/payload.ts';

/**
 * `first` and `second` have the same email address. This happens if one person changes their address and another person then
 * uses it.
 */
export const parts = ['main', 'first', 'second', 'profile'] as const;
export type Part = (typeof parts)[number];

export type TestPeople = Record<Part, StandardProfile>;

const cast: [Part, name: string, mailbox: string][] = [
  ['main', 'Identity doctor', 'identity-doctor'],
  ['first', 'Identity doctor (one)', 'identity-doctor-shared'],
  ['second', 'Identity doctor (two)', 'identity-doctor-shared'],
  ['profile', 'Identity doctor (newer)', 'identity-doctor-profile'],
];

export async function makeTestPeople(client: string, now: Date, run = ''): Promise<TestPeople> {
  const made = cast.map(async ([part, name, mailbox]) => [
    part,
    {
      id: await makeId(`${client} ${part}${run}`),
      email: `${mailbox}${run}@${client.replaceAll('_', '-')}.invalid`,
      name,
      role: 'customer',
      account: { capabilities: [] },
      profile_updated_at: now.toISOString(),
    },
  ]);
  return Object.fromEntries(await Promise.all(made));
}

/** A UUID v7 of the first millisecond of 1970. */
async function makeId(text: string): Promise<string> {
  const digest = await sha256(new TextEncoder().encode(`identity doctor v1 ${text}`));
  const hex = encodeHex(digest);
  return `00000000-0000-7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

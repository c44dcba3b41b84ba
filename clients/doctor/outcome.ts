// What the client did with a hand-off.
import type { Answer } from './network.ts';

/** `bounced`: the client redirected to its login start, or to a launch. */
export type Kind = 'taken' | 'refused' | 'bounced' | 'crashed';

export type Outcome = { kind: Kind; code: string | undefined; answer: Answer; launchId: string };

export function describe({ kind, code, answer }: Outcome): string {
  const { status, location } = answer;
  if (kind === 'taken') return `it was taken (${status}${location ? ` to ${location.pathname}` : ''})`;
  if (kind === 'bounced') return `it was sent to the login start (${status})`;
  return `it was answered with ${status}${code ? ` ${code}` : ''}${location ? ` to ${location.origin}${location.pathname}` : ''}`;
}

import type { ReactNode } from 'react';

/** `good`: all is well. `waiting`: something waits for us or for a date. `needs-you`: the person has to do something. */
export type Meaning = 'good' | 'waiting' | 'needs-you' | 'neutral';

/** Shows a state. People cannot press a badge. */
export function Badge({ meaning = 'neutral', children }: { meaning?: Meaning; children: ReactNode }) {
  return <span className={`badge ${meaning}`}>{children}</span>;
}

import type { ReactNode } from 'react';

/** `good`: as it should be. `waiting`: on us or on time. `needs-you`: the person has to do something. */
export type Meaning = 'good' | 'waiting' | 'needs-you' | 'neutral';

/** A state, never something to press. */
export function Badge({ meaning = 'neutral', children }: { meaning?: Meaning; children: ReactNode }) {
  return <span className={`badge ${meaning}`}>{children}</span>;
}

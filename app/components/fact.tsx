import type { ReactNode } from 'react';

/** One of the facts in a list: what it is called, and what it is. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

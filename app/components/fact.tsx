import type { ReactNode } from 'react';

/** One fact in a list: its label and its value. */
export const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

import type { ReactNode } from 'react';

/**
 * Asks before something is done: a button that opens the question in place. It is `details`, so it needs no script, and stays
 * open if the answer was refused.
 */
export function Disclosure({
  label,
  open,
  children,
}: {
  label: ReactNode;
  open?: boolean;
  children: ReactNode;
}) {
  return (
    <details className="disclosure" open={open}>
      <summary className="button quiet">{label}</summary>
      <div className="disclosure-inside">{children}</div>
    </details>
  );
}

import type { ReactNode } from 'react';

/**
 * A button that opens a question in place, before something is done. It is `details`, so it needs no script, and it stays open
 * if the answer was refused.
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

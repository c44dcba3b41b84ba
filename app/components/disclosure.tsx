import type { ReactNode } from 'react';

/**
 * A button that opens a question in place, before something is done. It is a `details` element, so it needs no script. The
 * question stays open if the form with the answer was refused.
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

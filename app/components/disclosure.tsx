import type { ReactNode } from 'react';

/**
 * A button that opens a question on the same page, before something is done. It is a `details` element, so it needs no script.
 * If the form with the answer was refused, the question stays open.
 */
export function Disclosure({
  label,
  open,
  name,
  children,
}: {
  label: ReactNode;
  open?: boolean;
  /** If several disclosures share this name, only one of them is open at a time. */
  name?: string;
  children: ReactNode;
}) {
  return (
    <details className="disclosure" open={open} name={name}>
      <summary className="button quiet">{label}</summary>
      <div className="disclosure-inside">{children}</div>
    </details>
  );
}

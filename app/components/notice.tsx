import type { ReactNode } from 'react';

/** A message above a form or page: announced, and not by colour alone. */
export function Notice({ kind, children }: { kind: 'success' | 'error' | 'info'; children: ReactNode }) {
  return (
    <div className={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** Local mode sends no email: where to read it instead. */
export function KeptMails() {
  return (
    <p>
      In local mode, read the email at <a href="/dev/mail">/dev/mail</a>.
    </p>
  );
}

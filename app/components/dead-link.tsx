import type { ReactNode } from 'react';
import { Page } from './page.tsx';

/** Shown for a link in an email that does not work (any more): why, and what to do instead. */
export function DeadLink({
  title = 'This link does not work',
  actions,
  children,
}: {
  title?: string;
  actions: ReactNode;
  children: ReactNode;
}) {
  return (
    <Page title={title}>
      <div className="card">
        <p>{children}</p>
        <div className="actions">{actions}</div>
      </div>
    </Page>
  );
}

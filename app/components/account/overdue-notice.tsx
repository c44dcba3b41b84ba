import { useLocation } from '@remix-run/react';
import { Notice } from '../notice.tsx';

/** On every page of the account while something should have been paid by now. */
export function OverdueNotice() {
  const isThere = useLocation().pathname === '/profile/billing';
  return (
    <Notice kind="warning">
      You have an overdue invoice.{' '}
      {isThere ? 'How to pay it is below.' : <a href="/profile/billing">See what to pay</a>}
    </Notice>
  );
}

import { Instant } from './instant.tsx';
import { Notice } from './notice.tsx';

/** Shown if a factor that somebody else added may lock people out. Says that we have sent a mail with a way back in. */
export function TakeBackHint({ sentAt }: { sentAt: Date }) {
  return (
    <Notice kind="warning">
      On <Instant at={sentAt} /> we emailed you about a change to your account. If you did not make that
      change, use the link in the email to take your account back.
    </Notice>
  );
}

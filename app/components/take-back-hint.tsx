import { Day } from './instant.tsx';
import { Notice } from './notice.tsx';

/** For people whom somebody else's factor may keep out: we have sent them a way back. */
export function TakeBackHint({ sentAt }: { sentAt: Date }) {
  return (
    <Notice kind="warning">
      On <Day at={sentAt} /> we emailed you about a change to your account. If you did not make that change,
      use the link in the email to take your account back.
    </Notice>
  );
}

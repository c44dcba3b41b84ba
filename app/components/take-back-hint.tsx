import { Day } from './instant.tsx';
import { Notice } from './notice.tsx';

/** For a person who may be shut out by somebody else's factor: we have sent them a way back. */
export function TakeBackHint({ sentAt }: { sentAt: Date }) {
  return (
    <Notice kind="warning">
      On <Day at={sentAt} /> we emailed you about a change to your account. If you did not make that change,
      use the link in the email to take your account back.
    </Notice>
  );
}

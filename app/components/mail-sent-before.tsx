import { TooMany } from './too-many.tsx';

/**
 * For a form that requests a mail. Says that an earlier mail may have arrived. Leave out `logInPath` if people are logged in.
 */
export const MailSentBefore = ({ minutes, logInPath }: { minutes: number; logInPath?: string }) => (
  <TooMany minutes={minutes}>
    <li>
      check your inbox and spam folder for an email that we sent you in the last hour: its link still works
    </li>
    {logInPath && (
      <li>
        <a href={logInPath}>log in</a> with your password or a passkey, if you have one
      </li>
    )}
  </TooMany>
);

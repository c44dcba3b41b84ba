// What the login page says at the cap of tries: how long to wait, and other ways in meanwhile. It says the same for every
// address, known or not.
import { withNext } from '../next.ts';
import { Notice } from './notice.tsx';

type OtherWaysInProps = {
  waitSeconds: number;
  /** Where the login was heading. */
  next: string | undefined;
};

export function OtherWaysIn({ waitSeconds, next }: OtherWaysInProps) {
  return (
    <Notice kind="error">
      <p>
        There have been too many attempts in a short time. Try again in {sayWait(waitSeconds)}. Until then,
        you can still get in if you:
      </p>
      <ul>
        <li>log in with a browser that you have used for this account before</li>
        <li>use a passkey</li>
        <li>
          <a href={withNext('/forgot-password', next)}>set a new password by email</a>
        </li>
      </ul>
    </Notice>
  );
}

/** Such as "43 minutes", or in hours if the wait is long. */
function sayWait(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  const [count, unit] = minutes < 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

// What the login page says at the cap of tries: how long to wait, and other ways in meanwhile. It says the same for every
// address, known or not.
import { withNext } from '../next.ts';
import { TooMany } from './too-many.tsx';

type OtherWaysInProps = {
  minutes: number;
  /** Where the login was heading. */
  next: string | undefined;
};

export function OtherWaysIn({ minutes, next }: OtherWaysInProps) {
  return (
    <TooMany minutes={minutes} meanwhile="Until then, you can still:">
      <li>log in with a browser that you have used for this account before</li>
      <li>use a passkey</li>
      <li>
        <a className="alone" href={withNext('/forgot-password', next)}>
          set a new password by email
        </a>
      </li>
    </TooMany>
  );
}

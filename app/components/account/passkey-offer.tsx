import { Notice } from '../notice.tsx';
import { Page } from '../page.tsx';
import { PasskeyForm } from '../passkey-form.tsx';
import { TooMany } from '../too-many.tsx';
import { NewBrowserNote } from './new-browser.tsx';

type PasskeyOfferProps = {
  email: string;
  isRevocable: boolean;
  nextTitle: string | undefined;
  message: string | undefined;
  /** For how long to wait after too many tries. */
  minutes: number | undefined;
};

/** Asks somebody who has just logged in by their password alone whether they want a passkey. */
export function PasskeyOffer({ email, isRevocable, nextTitle, message, minutes }: PasskeyOfferProps) {
  return (
    <Page
      alone
      title="Log in without your password next time?"
      intro="With a passkey you use your fingerprint, face or screen lock instead."
    >
      {minutes && <TooMany minutes={minutes} />}
      {message && <Notice kind="error">{message}</Notice>}
      <div className="card">
        <p>
          The passkey will be for <strong>{email}</strong>. Your password will still work too. Only add a
          passkey on your own device.
        </p>
        {isRevocable && <NewBrowserNote what="this passkey" email={email} />}
        <PasskeyForm
          purpose="add"
          name="passkey"
          instead={<p>This browser cannot add a passkey, or JavaScript is turned off.</p>}
        >
          <input type="hidden" name="intent" value="add" />
          <div className="actions">
            <button type="submit">Add a passkey</button>
          </div>
        </PasskeyForm>
        <form method="post">
          <div className="actions">
            <button type="submit" name="intent" value="later" className="quiet">
              {nextTitle ? `Not now, continue to ${nextTitle}` : 'Not now'}
            </button>
            <button type="submit" name="intent" value="never" className="quiet">
              Don’t ask again
            </button>
          </div>
        </form>
      </div>
      <p className="aside">You can add a passkey at any time on the Security page.</p>
    </Page>
  );
}

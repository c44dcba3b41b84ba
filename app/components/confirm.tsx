import type { ConfirmAsks } from '../../server/identity/login/confirm.ts';
import { Field } from './field.tsx';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';
import { PasskeyForm } from './passkey-form.tsx';
import { TakeBackHint } from './take-back-hint.tsx';

/**
 * The page that asks for a credential before a change. It sends the first form's fields again, to the same address, so that the
 * change is made straight away.
 */
export function Confirm({ asks, takeBackSentAt }: { asks: ConfirmAsks; takeBackSentAt?: Date | undefined }) {
  const { email, canConfirm, loginPath, hasPassword, hasPasskey, otherWay, values, error } = asks;
  const kept = Object.entries(values).map(([name, value]) => (
    <input key={name} type="hidden" name={name} value={value} />
  ));
  if (!canConfirm)
    return (
      <Page alone title="Set a password first" intro="You need one to make this change.">
        <div className="card">
          <p>
            You do not have a password here yet. <a href="/forgot-password">Set one by email</a>, then come
            back.
          </p>
        </div>
      </Page>
    );
  if (loginPath)
    return (
      <Page alone title="Log in again first" intro="This change needs your second factor, too.">
        <div className="card">
          <p>
            You came here from another product. Log in with your password and your second factor to go on.
          </p>
          <a className="button" href={loginPath}>
            Log in again
          </a>
        </div>
      </Page>
    );
  return (
    <Page
      alone
      title="Confirm it’s you"
      intro={hasPassword ? 'Enter your password to go on.' : 'Use your passkey to go on.'}
    >
      {takeBackSentAt && <TakeBackHint sentAt={takeBackSentAt} />}
      {hasPassword && (
        // The browser's own form, which goes to the address of the page.
        <form method="post" className="card">
          {kept}
          <input type="email" autoComplete="username" value={email} readOnly hidden />
          <Field
            label="Password"
            name="confirmPassword"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            error={error}
          />
          <button type="submit">Confirm</button>
        </form>
      )}
      {!hasPassword && error && <Notice kind="error">{error}</Notice>}
      {hasPasskey && (
        <PasskeyForm
          purpose="confirm"
          name="confirmPasskey"
          className={hasPassword ? 'aside' : 'card'}
          otherwise={otherWay && ways[otherWay]}
          instead={!hasPassword && <NoPasskeyHere otherWay={otherWay} />}
        >
          {kept}
          <button type="submit" className={hasPassword ? 'secondary' : undefined}>
            Use a passkey
          </button>
        </PasskeyForm>
      )}
    </Page>
  );
}

type OtherWay = ConfirmAsks['otherWay'];

/** The ways to confirm besides the passkey. */
const ways = {
  password: 'enter your password',
  mail: 'set a password by email',
  code: 'log out, and log in with your password and a code',
};

function NoPasskeyHere({ otherWay }: { otherWay: OtherWay }) {
  return (
    <div className="card">
      <p>
        This browser cannot use a passkey, or JavaScript is switched off.{' '}
        {otherWay === 'mail' && (
          <>
            You can <a href="/forgot-password">{ways.mail}</a> instead.
          </>
        )}
        {otherWay === 'code' && `Or ${ways.code}.`}
        {!otherWay && 'Log in where you have your passkey.'}
      </p>
    </div>
  );
}

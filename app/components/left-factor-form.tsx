import { useFormAction } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { Asks } from '../../server/identity/recovery/given-factor.ts';
import { sayCodeFactors } from './account/account-pages.ts';
import { Field } from './field.tsx';
import { isAboutPasswords, NewPassword, TooManyPasswords } from './new-password.tsx';
import { Notice } from './notice.tsx';
import { PasskeyForm } from './passkey-form.tsx';
import { useRefused } from './refused.ts';
import { TooMany } from './too-many.tsx';

type LeftFactorFormProps = {
  /** What the link is for. The page sends this word to /passkeys/options. */
  purpose: 'take-back' | 'new-address';
  email: string;
  asks: Asks | undefined;
  /** What the button does, such as "Take your account back". */
  act: string;
  /** Begins the sentence that is shown if this browser cannot use passkeys, such as "To take the account back". */
  toAct: string;
  /** What else works after too many wrong codes, as list items. */
  meanwhile: ReactNode;
  children: ReactNode;
};

/**
 * The form behind a link in a mail, for people who are not logged in. It asks for a new password. If the user still has a
 * second factor, it also asks for a code or a passkey. Only the passkey needs script.
 */
export function LeftFactorForm({
  purpose,
  email,
  asks,
  act,
  toAct,
  meanwhile,
  children,
}: LeftFactorFormProps) {
  const refused = useRefused();
  const errors = refused?.errors ?? {};
  // If the refusal has a message, there were thirty wrong codes, and the link accepts no more codes (contract 2.49). A passkey
  // still works.
  const isForGood = refused?.message !== undefined;
  const here = useFormAction();
  const codeFrom = asks && sayCodeFactors('yours', ' or ', asks.codeFactors);
  const takesPasskeyOnly = asks?.codeFactors.length === 0;
  const start = (
    <>
      {children}
      <NewPassword email={email} />
    </>
  );
  return (
    <>
      <TooManyPasswords />
      {refused?.minutes && !isAboutPasswords(refused) && (
        <TooMany
          about={isForGood ? 'Too many wrong codes have been entered with this link.' : undefined}
          minutes={isForGood ? undefined : refused.minutes}
          meanwhile={isForGood ? 'You can still:' : undefined}
        >
          {asks?.passkey && <li>use your passkey</li>}
          {meanwhile}
        </TooMany>
      )}
      {errors.passkey && <Notice kind="error">{errors.passkey}</Notice>}
      {!takesPasskeyOnly && (
        <form method="post" action={here} className="card">
          {start}
          {codeFrom && (
            <Field
              label={`Code from ${codeFrom}`}
              hint="You can also use a recovery code."
              name="code"
              autoComplete="one-time-code"
              autoCapitalize="none"
              spellCheck={false}
              required
              error={errors.code}
            />
          )}
          <button type="submit">{act}</button>
        </form>
      )}
      {asks?.passkey && (
        <PasskeyForm
          purpose={purpose}
          name="passkey"
          action={here}
          className={takesPasskeyOnly ? 'card' : 'aside'}
          otherwise={takesPasskeyOnly ? undefined : 'enter a code'}
          instead={
            takesPasskeyOnly && (
              <div className="card">
                <p>
                  {toAct}, you need your passkey. This browser cannot use one, or JavaScript is turned off.
                  Open the link on a device that has your passkey.
                </p>
              </div>
            )
          }
        >
          {takesPasskeyOnly ? start : <input type="hidden" name="newPassword" data-as-typed="" />}
          <button type="submit" className={takesPasskeyOnly ? undefined : 'secondary'}>
            {takesPasskeyOnly ? `${act} with your passkey` : 'Use a passkey instead of the code'}
          </button>
        </PasskeyForm>
      )}
    </>
  );
}

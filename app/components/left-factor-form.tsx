import { useFormAction } from '@remix-run/react';
import type { ReactNode } from 'react';
import type { Asks } from '../../server/identity/recovery/given-factor.ts';
import { sayCodeFactors } from './account/account-pages.ts';
import { Field } from './field.tsx';
import { NewPassword } from './new-password.tsx';
import { Notice } from './notice.tsx';
import { PasskeyForm } from './passkey-form.tsx';
import { useRefused } from './refused.ts';

type LeftFactorFormProps = {
  /** What the link is for, as /passkeys/options knows it. */
  purpose: 'take-back' | 'new-address';
  email: string;
  asks: Asks | undefined;
  /** What the button does, such as "Take your account back". */
  act: string;
  /** Why a passkey is needed, for a browser that cannot use one: "To take the account back". */
  toAct: string;
  /** What the form does. */
  children: ReactNode;
};

/**
 * The form of a link in a mail that works without a login: a new password and, where a factor is left, a code or a passkey. It
 * works without script, but for a passkey.
 */
export function LeftFactorForm({ purpose, email, asks, act, toAct, children }: LeftFactorFormProps) {
  const errors = useRefused()?.errors ?? {};
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
          instead={takesPasskeyOnly && <NoPasskeyHere toAct={toAct} />}
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

function NoPasskeyHere({ toAct }: Pick<LeftFactorFormProps, 'toAct'>) {
  return (
    <div className="card">
      <p>
        {toAct}, you need your passkey. This browser cannot use one, or JavaScript is turned off. Open the
        link on a device that has your passkey.
      </p>
    </div>
  );
}

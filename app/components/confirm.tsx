import { useLocation } from '@remix-run/react';
import type { ConfirmAsks } from '../../server/identity/login/confirm.ts';
import { withNext } from '../next.ts';
import type { Refused } from '../refused.ts';
import { sayCodeFactors } from './account/account-pages.ts';
import { Fact } from './fact.tsx';
import { Field, WhosePassword } from './field.tsx';
import { Notice } from './notice.tsx';
import { Page } from './page.tsx';
import { PasskeyForm } from './passkey-form.tsx';
import { TakeBackHint } from './take-back-hint.tsx';

type ConfirmProps = {
  asks: ConfirmAsks;
  refused: Pick<Refused, 'values'>;
  /** The words of the button that was pressed. */
  to?: string | undefined;
  /** The email address of the person whose data will change. Left out if people change their own data. */
  about?: string | undefined;
  /** What was typed or chosen, with its label. */
  given?: [label: string, value: string][];
  /** What the change brings about. */
  notice?: string | undefined;
  /** Whether the pressed button removes something. */
  danger?: boolean | undefined;
  takeBackSentAt?: Date | undefined;
};

/**
 * Asks for a credential before a change. The form for the credential also carries the fields of the form that asked for the
 * change. So one form gives the credential and makes the change.
 */
export function Confirm({
  asks,
  refused,
  to = 'Continue',
  about,
  given = [],
  notice,
  danger,
  takeBackSentAt,
}: ConfirmProps) {
  const { email, canConfirm, hasPassword, codeFactors, hasPasskey, otherWay, error, codeError } = asks;
  const { pathname, search } = useLocation();
  // If the person is on the way to a client, the link in the mail has to lead on to that client.
  const forgotPath = withNext('/forgot-password', new URLSearchParams(search).get('next') ?? undefined);
  const kept = Object.entries(refused.values).map(([name, value]) => (
    <input key={name} type="hidden" name={name} value={value} />
  ));
  if (!canConfirm)
    return (
      <Page alone title="Set a password first" intro="You need a password to make this change.">
        <div className="card">
          <p>
            You do not have a password here yet. <a href={forgotPath}>Set one by email</a>, then come back.
          </p>
        </div>
      </Page>
    );
  const needsCode = codeFactors.length > 0;
  const give = hasPassword ? `Enter your password${needsCode ? ' and a code' : ''}` : 'Use your passkey';
  return (
    <Page alone title="Confirm it’s you" intro={`${give} to ${lowerFirst(to)}${about ? ` (${about})` : ''}.`}>
      {takeBackSentAt && <TakeBackHint sentAt={takeBackSentAt} />}
      {notice && <Notice kind="warning">{notice}</Notice>}
      {given.length > 0 && (
        <dl className="facts card" data-given>
          {given.map(([label, value]) => (
            <Fact key={label} name={label}>
              <bdi>{value}</bdi>
            </Fact>
          ))}
        </dl>
      )}
      {hasPassword && (
        <form method="post" className="card">
          {kept}
          <WhosePassword email={email} />
          <Field
            label="Password"
            name="confirmPassword"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            error={error}
          />
          {needsCode && (
            <Field
              label={`Code from ${sayCodeFactors('yours', ' or ', codeFactors)}`}
              hint="You can also use a recovery code."
              name="confirmCode"
              autoComplete="one-time-code"
              autoCapitalize="none"
              spellCheck={false}
              required
              error={codeError}
              focusOnError={false}
            />
          )}
          <div className="actions">
            <button type="submit" className={danger ? 'danger' : undefined}>
              {to}
            </button>
            <a href={pathname}>Cancel</a>
          </div>
        </form>
      )}
      {hasPassword && (
        <p className="aside">
          <a href={forgotPath}>Forgot your password?</a>
        </p>
      )}
      {!hasPassword && error && <Notice kind="error">{error}</Notice>}
      {hasPasskey && (
        <PasskeyForm
          purpose="confirm"
          name="confirmPasskey"
          className={hasPassword ? 'aside' : 'card'}
          otherwise={otherWay && (needsCode && hasPassword ? ways.code : ways[otherWay])}
          instead={!hasPassword && <NoPasskeyHere otherWay={otherWay} />}
        >
          {kept}
          <button type="submit" className={hasPassword ? 'secondary' : danger ? 'danger' : undefined}>
            {hasPassword ? 'Use a passkey' : to}
          </button>
        </PasskeyForm>
      )}
      {!hasPassword && (
        <p className="aside">
          <a href={pathname}>Cancel</a>
        </p>
      )}
    </Page>
  );
}

const lowerFirst = (words: string) => words.charAt(0).toLowerCase() + words.slice(1);

const ways = {
  password: 'enter your password',
  mail: 'set a password by email',
  code: 'enter your password and a code',
};

function NoPasskeyHere({ otherWay }: Pick<ConfirmAsks, 'otherWay'>) {
  return (
    <div className="card">
      <p>
        This browser cannot use a passkey, or JavaScript is turned off.{' '}
        {otherWay === 'mail' && (
          <>
            You can <a href="/forgot-password">{ways.mail}</a> instead.
          </>
        )}
        {!otherWay && 'Log in on a device that has your passkey.'}
      </p>
    </div>
  );
}

import type { Refused } from '../../refused.ts';
import { Field, WhosePassword } from '../field.tsx';
import { KeptMails } from '../notice.tsx';
import { Section } from '../section.tsx';
import { Outcome } from './outcome.tsx';

type PasswordProps = {
  email: string;
  hasPassword: boolean;
  hasPasskey: boolean;
  keepsMails: boolean;
  saved: string | null;
  refused: Refused | undefined;
};

export function Password(props: PasswordProps) {
  return props.hasPassword ? <ChangePassword {...props} /> : <SetFirstPassword {...props} />;
}

/**
 * Somebody who has only ever come from another product has not proved their email address. So they set their first password by
 * a link in a mail: the use of the link proves the address.
 */
function SetFirstPassword({ email, hasPasskey, keepsMails, saved, refused }: PasswordProps) {
  const isSent = !refused && saved === 'mail-password';
  return (
    <Section
      id="password"
      title="Password"
      intro={
        hasPasskey
          ? 'You do not have a password. You log in with a passkey.'
          : 'You do not have a password yet. With one, you can log in here directly.'
      }
      bare
    >
      <form method="post" className="card">
        <Outcome
          intent="mail-password"
          saved={saved}
          refused={refused}
          otherwise={<li>check your inbox and spam folder for an email that we sent you in the last hour</li>}
        >
          We have sent a link to <strong>{email}</strong>. Open it to set your password. It works for an hour.
          {keepsMails && <KeptMails />}
        </Outcome>
        {!isSent && (
          <p>
            We will email a link to <strong>{email}</strong>, so that only you can set it.
          </p>
        )}
        <button type="submit" name="intent" value="mail-password" className={isSent ? 'quiet' : undefined}>
          {isSent ? 'Email me another link' : 'Email me a link to set a password'}
        </button>
      </form>
    </Section>
  );
}

function ChangePassword({ email, saved, refused }: PasswordProps) {
  const errors = refused?.values.intent === 'password' ? refused.errors : {};
  return (
    <Section id="password" title="Password" intro="Changing it will log you out everywhere else." bare>
      <form method="post" className="card">
        <Outcome
          intent="password"
          saved={saved}
          refused={refused}
          otherwise={
            <li>
              <a className="alone" href="/forgot-password">
                set a new password by email
              </a>
            </li>
          }
        >
          Your password has been changed. You are logged out everywhere else.
        </Outcome>
        <WhosePassword email={email} />
        <Field
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          required
          error={errors.currentPassword}
        />
        <Field
          label="New password"
          hint="Use at least 12 characters. A few random words work well."
          name="newPassword"
          type="password"
          autoComplete="new-password"
          required
          error={errors.newPassword}
          focusOnError={!errors.currentPassword}
        />
        <button type="submit" name="intent" value="password">
          Change password
        </button>
      </form>
    </Section>
  );
}

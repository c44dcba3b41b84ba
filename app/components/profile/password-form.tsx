import { Form } from '@remix-run/react';
import { Field } from '../field.tsx';
import { SubmitButton } from '../submit-button.tsx';
import type { Refused } from './names-form.tsx';

/** For people who came here from another product only. */
export function NoPassword({ emailVerified }: { emailVerified: boolean }) {
  return (
    <section aria-labelledby="password">
      <h2 id="password">Password</h2>
      <div className="card">
        <p>You do not have a password yet. With one you can log in here by yourself.</p>
        <p>
          <a href={emailVerified ? '/forgot-password' : '/verify-email'}>
            {emailVerified ? 'Set a password by email' : 'Verify your email address and set a password'}
          </a>
        </p>
      </div>
    </section>
  );
}

export function PasswordForm({ email, refused }: { email: string; refused?: Refused }) {
  return (
    <section aria-labelledby="password">
      <h2 id="password">Password</h2>
      <Form method="post" className="card" preventScrollReset>
        {/* Tells password managers whose password it is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <Field
          label="Current password"
          name="currentPassword"
          type="password"
          autoComplete="current-password"
          required
          error={refused?.errors.currentPassword}
        />
        <Field
          label="New password"
          hint="Use at least 12 characters. A few random words work well."
          name="newPassword"
          type="password"
          autoComplete="new-password"
          required
          error={refused?.errors.newPassword}
          focusOnError={!refused?.errors.currentPassword}
        />
        <p className="hint">Changing your password logs you out everywhere else.</p>
        <SubmitButton intent="password" busy="Changing…">
          Change password
        </SubmitButton>
      </Form>
    </section>
  );
}

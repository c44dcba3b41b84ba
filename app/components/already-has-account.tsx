import { Page } from './page.tsx';

/** Shown if a user has proved the email address that was typed. The visitor is most likely that user. */
export function AlreadyHasAccount({ email }: { email: string }) {
  return (
    <Page title="You already have an account">
      <div className="card">
        <p>
          There is already an account with the address <strong>{email}</strong>. Log in to it. If you have no
          password or have forgotten it, set a new one.
        </p>
        <div className="actions">
          <a className="button" href="/login">
            Log in
          </a>
          <a href="/forgot-password">Set a new password</a>
        </div>
      </div>
    </Page>
  );
}

import { Page } from './page.tsx';

/** Shown if somebody has proved this address before; most likely the same person. */
export function AlreadyHasAccount({ email }: { email: string }) {
  return (
    <Page title="You already have an account">
      <div className="card">
        <p>
          There is an account with the address <strong>{email}</strong>. Log in to it, or set a new password
          if you do not have one or forgot it.
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

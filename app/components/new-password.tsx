import { Field, WhosePassword } from './field.tsx';

/** The field of a page that sets a password by a link, with the user's address for password managers. */
export function NewPassword({ email, error }: { email: string; error?: string }) {
  return (
    <>
      <WhosePassword email={email} />
      <Field
        key={error}
        label="New password"
        hint="Use at least 12 characters. A few random words work well."
        name="newPassword"
        type="password"
        autoComplete="new-password"
        required
        autoFocus
        error={error}
      />
    </>
  );
}

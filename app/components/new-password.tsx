import type { ReactNode } from 'react';
import { Field, WhosePassword } from './field.tsx';
import { useRefused } from './refused.ts';
import { TooMany } from './too-many.tsx';

type NewPasswordProps = {
  /** The user's email address, for password managers. */
  email: string;
  label?: string;
  autoFocus?: boolean;
};

/** For pages on which people set a password after a link in a mail. */
export function NewPassword({ email, label = 'New password', autoFocus = true }: NewPasswordProps) {
  const refused = useRefused();
  const error = refused?.minutes ? undefined : refused?.errors.newPassword;
  return (
    <>
      <WhosePassword email={email} />
      <Field
        label={label}
        hint="Use at least 12 characters. A few random words work well."
        name="newPassword"
        type="password"
        autoComplete="new-password"
        required
        autoFocus={autoFocus}
        error={error}
        focusOnError={autoFocus}
      />
    </>
  );
}

/** Returns whether people must wait, because too many of their new passwords were refused (contract 9.245). */
export const isAboutPasswords = (refused: ReturnType<typeof useRefused>): boolean =>
  refused?.minutes !== undefined && refused.errors.newPassword !== undefined;

/** `children` are list items that say what people can do until they may try again. */
export function TooManyPasswords({ children }: { children?: ReactNode }) {
  const refused = useRefused();
  if (!refused || !isAboutPasswords(refused)) return null;
  return (
    <TooMany about={`${refused.errors.newPassword} This link still works.`} minutes={refused.minutes}>
      {children}
    </TooMany>
  );
}

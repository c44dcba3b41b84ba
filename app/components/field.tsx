import { type InputHTMLAttributes, useId } from 'react';
import { Icon } from './icon.tsx';

type FieldProps = {
  label: string;
  name: string;
  hint?: string;
  error?: string;
  /** Set this to false if an earlier field has an error, because only the first field with an error takes the focus. */
  focusOnError?: boolean;
} & InputHTMLAttributes<HTMLInputElement>;

export function Field({ label, hint, error, focusOnError = true, ...input }: FieldProps) {
  const ownId = useId();
  const id = input.id ?? ownId;
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  const box = (
    <input
      {...input}
      // biome-ignore lint/a11y/noAutofocus: people want to mend a wrong value first
      autoFocus={input.autoFocus || (error !== undefined && focusOnError)}
      id={id}
      // People may type text that is read from right to left, such as Arabic.
      dir={input.type ? undefined : 'auto'}
      aria-invalid={error ? true : undefined}
      aria-describedby={describedBy || undefined}
    />
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {input.type === 'password' ? (
        <div className="secret">
          {box}
          <ShowButton />
        </div>
      ) : (
        box
      )}
      <p className="error" id={`${id}-error`} role="alert" hidden={!error}>
        {error}
      </p>
    </div>
  );
}

/**
 * Attributes for every input of an email address. The type `email` is not used, because browsers then refuse letters beyond
 * ASCII before the @ (contract 9.281).
 */
const emailInput = { type: 'text', inputMode: 'email', autoCapitalize: 'none', spellCheck: false } as const;

export const EmailField = (field: Omit<FieldProps, 'type'> & { autoComplete: string }) => (
  <Field {...emailInput} {...field} />
);

/** Tells password managers whose password the form is about. */
export const WhosePassword = ({ email }: { email: string }) => (
  <input {...emailInput} autoComplete="username" value={email} readOnly hidden />
);

/** The style sheet shows this button only if the page runs script. app/enhance.js makes it work. */
function ShowButton() {
  return (
    <button type="button" data-show-password aria-pressed="false">
      <Icon name="eye" />
      <span className="visually-hidden">Show password</span>
    </button>
  );
}

// The form of an act of the staff: it opens in place, says what will happen, and asks why.
import type { ReactNode } from 'react';
import type { Refused } from '../../refused.ts';
import { Disclosure } from '../disclosure.tsx';
import { Field } from '../field.tsx';
import { Notice } from '../notice.tsx';
import { TooMany } from '../too-many.tsx';

export type ActFormProps = {
  intent: string;
  /** The words of the button that opens the form. */
  label: ReactNode;
  /** The words of the button that sends it. */
  button: string;
  /** What will happen, and what the person or customer will notice. */
  notice: ReactNode;
  danger?: boolean;
  /** Fields that say what it is about, such as which capability, and what it was made from. */
  about?: Record<string, string>;
  /** This form, if it was refused. */
  refused: Refused | undefined;
  fields?: ReactNode;
};

export function ActForm({
  intent,
  label,
  button,
  notice,
  danger,
  about = {},
  refused,
  fields,
}: ActFormProps) {
  return (
    <Disclosure label={label} open={refused !== undefined}>
      {/* The browser's own form, which goes to the address of the page. */}
      <form method="post" data-intent={intent}>
        <Refusal refused={refused} />
        <p data-notice>{notice}</p>
        {Object.entries(about).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {fields}
        <Field
          label="Why"
          hint="At least 3 characters. For the audit: only staff see it."
          name="why"
          required
          minLength={3}
          maxLength={500}
          autoComplete="off"
          defaultValue={refused?.values.why}
          error={refused?.errors.why}
          autoFocus={refused?.errors.why !== undefined}
        />
        <button type="submit" name="intent" value={intent} className={danger ? 'danger' : undefined}>
          {button}
        </button>
      </form>
    </Disclosure>
  );
}

/** What was wrong with a form as a whole. */
export function Refusal({ refused }: { refused: Refused | undefined }) {
  if (!refused) return null;
  if (refused.minutes) return <TooMany minutes={refused.minutes} focus />;
  const message = refused.code === 'edited_meanwhile' ? editedMeanwhile : refused.message;
  if (!message) return null;
  return (
    <Notice kind="error" focus>
      {message}
    </Notice>
  );
}

const editedMeanwhile =
  'This has changed since you opened the page, so nothing was done. Look at it as it is now, then send the form again.';

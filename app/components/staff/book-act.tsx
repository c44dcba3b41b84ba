// A form of an administrator about money.
import type { ReactNode } from 'react';
import type { Refused } from '../../refused.ts';
import { Disclosure } from '../disclosure.tsx';
import { Field } from '../field.tsx';
import { Refusal } from './act.tsx';

type BookActProps = {
  intent: string;
  /** The words of the button that opens the form. */
  label: string;
  /** The words of the button that sends it. */
  button: string;
  /** What will happen. */
  notice: ReactNode;
  danger?: boolean;
  /** What the form is about, and what it was made from. */
  about: Record<string, string>;
  refused: Refused | undefined;
  fields?: ReactNode;
};

export function BookAct({ intent, label, button, notice, danger, about, refused, fields }: BookActProps) {
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
          hint="For the audit. The customer does not see it."
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

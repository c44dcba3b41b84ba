import { createContext, type ReactNode, useContext } from 'react';
import type { Procedures } from '../../../server/trpc/router.ts';
import type { Refused } from '../../refused.ts';
import { Disclosure } from '../disclosure.tsx';
import { Field } from '../field.tsx';
import { Notice } from '../notice.tsx';
import { TooMany } from '../too-many.tsx';

type Got = Awaited<ReturnType<Procedures['admin']['people']['get']>>;

/** Everything that staff see of a person. */
export type Person = Extract<Got, { seen: object }>;
export type Intent = keyof Person['seen'];

/** What each form of a person's page needs: what it was made from, and whether it was refused. */
export const ActsContext = createContext<{ seen: Person['seen']; refused: Refused | undefined }>({
  seen: {},
  refused: undefined,
});

type ActProps = {
  intent: Intent;
  /** The words of the button that opens the form. */
  label: ReactNode;
  /** The words of the button that sends it. */
  button: string;
  /** What the person will notice. */
  notice: ReactNode;
  danger?: boolean;
  /** Fields that say what it is about, such as which capability. */
  about?: Record<string, string>;
  /** Further fields, with what was wrong with them and what was typed. */
  fields?: (refused: Refused | undefined) => ReactNode;
};

/** A form that changes something about a person. Nothing, if whoever looks may not do it. */
export function Act({ intent, label, button, notice, danger, about = {}, fields }: ActProps) {
  const { seen, refused: any } = useContext(ActsContext);
  const madeFrom = seen[intent];
  if (madeFrom === undefined) return null;
  const isMine =
    any?.values.intent === intent &&
    Object.entries(about).every(([name, value]) => any.values[name] === value);
  const refused = isMine ? any : undefined;
  return (
    <Disclosure label={label} open={isMine}>
      {/* The browser's own form, which goes to the address of the page. */}
      <form method="post" data-intent={intent}>
        <Refusal refused={refused} />
        <p data-notice>{notice}</p>
        {Object.entries({ ...about, seen: madeFrom }).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {fields?.(refused)}
        <Field
          label="Why"
          hint="For the audit. They do not see it."
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

/** What was wrong with the form as a whole. */
function Refusal({ refused }: { refused: Refused | undefined }) {
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

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

/** The person that the forms of the page are about, and the form that was refused. */
export const ActsContext = createContext<{ person: Person; refused: Refused | undefined } | undefined>(
  undefined,
);

/** What a form says beside `why` and `seen`: its fields that are fixed, such as which capability. */
type About = Record<string, string>;

const canGetMail = ({ suspendedAt, deletionDueAt }: Person) => !suspendedAt && !deletionDueAt;

/** Whether an act makes sense for the person as they are now. */
const makesSense: Record<Intent, (person: Person, about: About) => boolean> = {
  suspend: ({ suspendedAt }) => !suspendedAt,
  resume: ({ suspendedAt, frozenAt }) => suspendedAt !== null && !frozenAt,
  thaw: ({ frozenAt }) => frozenAt !== null,
  'end-sessions': ({ sessions }) => sessions.length > 0,
  'send-mail': (person, { kind }) =>
    canGetMail(person) && (kind !== 'prove-email' || !person.emailVerifiedAt),
  'remove-factors': ({ factors, codesLeft }) => factors.length > 0 || codesLeft > 0,
  verify: ({ account }) => !account.verifiedAt,
  unverify: ({ account }) => account.decided.verified !== false,
  grant: ({ account }, { capability = '' }) => !account.granted.includes(capability),
  revoke: ({ account }, { capability = '' }) => !account.decided.revoked.includes(capability),
  undecide: ({ account: { decided } }, { capability = '' }) =>
    capability === 'verification'
      ? decided.verified !== null
      : decided.granted.includes(capability) || decided.revoked.includes(capability),
  'change-role': () => true,
  'plan-deletion': ({ deletionDueAt }) => !deletionDueAt,
  keep: ({ deletionDueAt }) => deletionDueAt !== null,
  'change-email': ({ suspendedAt, role }) => !suspendedAt && role === 'user',
  'check-vat-id': ({ billing }, { vatId, checked }) =>
    billing?.vatId === vatId && billing?.hasCheckedVatId !== (checked === 'yes'),
  'remove-link': ({ links }, { externalId }) => links.some((link) => link.externalId === externalId),
};

/** Whether the page has that form, for whoever looks at it. */
export const isOffered = (person: Person, intent: Intent, about: About = {}): boolean =>
  person.seen[intent] !== undefined && makesSense[intent](person, about);

/** Whether the page has the form that was refused, and so says there what was wrong. */
export function isSaidAtForm(person: Person, { values }: Refused): boolean {
  const { intent = '' } = values;
  return Object.hasOwn(makesSense, intent) && isOffered(person, intent as Intent, values);
}

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
  about?: About;
  /** Further fields, with what was wrong with them and what was typed. */
  fields?: (refused: Refused | undefined) => ReactNode;
};

/** A form that changes something about a person. Nothing, if it makes no sense now, or whoever looks may not do it. */
export function Act({ intent, label, button, notice, danger, about = {}, fields }: ActProps) {
  const { person, refused: any } = useContext(ActsContext) ?? {};
  if (!person || !isOffered(person, intent, about)) return null;
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
        {Object.entries({ ...about, seen: person.seen[intent] }).map(([name, value]) => (
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

// The forms by which staff act.
import { useLocation } from '@remix-run/react';
import { createContext, createElement, Fragment, type ReactNode, useContext, useId } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import type { ActForm } from '../../../server/staff/act-forms.ts';
import type { FormField, Place } from '../../../server/staff/form-words.ts';
import type { Refused } from '../../refused.ts';
import { Confirm } from '../confirm.tsx';
import { Disclosure } from '../disclosure.tsx';
import { EmailField, Field } from '../field.tsx';
import { Notice } from '../notice.tsx';
import { isNotDone, notDone, useRefused } from '../refused.ts';
import { TooMany } from '../too-many.tsx';
import { Choice, Name } from './words.tsx';

type Got = Awaited<ReturnType<Procedures['staffForms']['person']>>['person'];

export type Person = Extract<Got, { seen: object }>;

type PersonsForms = { name: string; email: string; forms: ActForm[] };

/** The forms of a person's page, and the person that they are about. */
export const ActsContext = createContext<PersonsForms>({ name: '', email: '', forms: [] });

export const isOf = (refused: Refused | undefined, { intent, about }: ActForm) =>
  refused?.values.intent === intent &&
  Object.entries(about).every(([name, value]) => refused.values[name] === value);

/**
 * Says what the form did that led to this page. If a form was refused, the form itself says so. If the page does not have the
 * refused form any more, the refusal is shown here.
 */
export function Outcome({ forms, outcome }: { forms: ActForm[]; outcome: string | null }) {
  const refused = useRefused();
  if (refused)
    return forms.some((form) => isOf(refused, form)) ? null : <Refusal refused={withUnseen(refused, [])} />;
  return (
    outcome && (
      <Notice kind="success" focus>
        {outcome}
      </Notice>
    )
  );
}

/**
 * Returns the page that asks for a credential before an act, if one is needed. With `warns`, that page repeats the warning of
 * an act that ends something.
 */
export function askBefore(
  refused: Refused | undefined,
  { forms, about, warns = false }: { forms: ActForm[]; about?: string | undefined; warns?: boolean },
): ReactNode {
  if (!refused?.asks) return null;
  const form = forms.find((each) => isOf(refused, each));
  return (
    <Confirm
      refused={refused}
      asks={refused.asks}
      to={form?.to}
      about={about}
      given={form && listGiven(form, refused.values)}
      notice={warns && form?.isDanger ? form.notice : undefined}
      danger={form?.isDanger}
    />
  );
}

/** Returns what staff typed and chose in the form, with the form's labels. */
const listGiven = ({ fields }: ActForm, values: Refused['values']): [label: string, value: string][] =>
  fields.flatMap(({ name, label, value, kind, choices = [] }) => {
    const given = values[name] ?? '';
    if (kind === 'yes') return given === 'yes' ? [[label, 'Yes']] : [];
    const words = choices.find((choice) => choice.value === given)?.words.replace('{value}', () => given);
    return given || value ? [[label, words ?? (given || 'None')]] : [];
  });

/**
 * Shows the forms that match `about`. They come from `forms` if it is given, or else from the place `at` of the person's page.
 * Screen readers read `named` after the label of a button. `isBare`: the forms share a row with other buttons.
 */
export function Acts({
  forms: given,
  at,
  about = {},
  named,
  isBare = false,
}: {
  forms?: ActForm[];
  at?: Place;
  about?: Record<string, string>;
  named?: ReactNode;
  isBare?: boolean;
}) {
  const ofPage = useContext(ActsContext).forms.filter((form) => form.at === at);
  const isAbout = (form: ActForm) =>
    Object.entries(about).every(
      ([name, value]) => (form.about[name as keyof ActForm['about']] ?? value) === value,
    );
  const shown = (given ?? ofPage).filter(isAbout);
  if (shown.length === 0) return null;
  const acts = shown.map((form) => (
    <Act key={`${form.intent} ${JSON.stringify(form.about)}`} form={form} named={named} />
  ));
  return isBare ? acts : <div className="acts">{acts}</div>;
}

function Act({ form, named }: { form: ActForm; named: ReactNode }) {
  const any = useRefused();
  const query = new URLSearchParams(useLocation().search);
  // True if a link led here to open this form. After the form was sent, the page does not open it a second time.
  const isAsked = query.get('edit') === form.intent && !query.has('saved');
  return (
    <Disclosure
      label={
        <>
          {form.label}
          {named && <span className="visually-hidden">: {named}</span>}
        </>
      }
      open={isOf(any, form) || isAsked}
    >
      <ActFields form={form} />
    </Disclosure>
  );
}

/** The fields of a form. `first` is shown above the text of the form. */
export function ActFields({ form, first }: { form: ActForm; first?: ReactNode }) {
  const any = useRefused();
  const refused = isOf(any, form) ? any : undefined;
  const { intent, about, hidden, button, ask, ways, notice, isDanger, isIdle, hasWhy, sides, fields } = form;
  // A refused form keeps what was sent, except `seen`. `seen` says which state the page showed when the form was made, and the
  // page may now show a newer state.
  const kept = { ...hidden, ...(refused && pick(refused.values, Object.keys(hidden))), seen: hidden.seen };
  const what = (
    <>
      <Refusal refused={refused && withUnseen(refused, ['why', ...fields.map(({ name }) => name)])} />
      {first}
      {ask && (
        <p className="hint" data-ask>
          {ask}
        </p>
      )}
      <p data-notice>
        <Words text={notice} />
      </p>
      {sides.length > 0 && <Sides sides={sides} />}
    </>
  );
  if (isIdle) return what;
  return (
    <form method="post" data-intent={intent}>
      {what}
      {Object.entries({ ...about, ...kept }).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {fields.map((field) => (
        <FieldOf key={field.name} field={field} refused={refused} />
      ))}
      {ways.length > 0 && (
        <fieldset className="field">
          <legend>How do you know who is calling?</legend>
          {[...ways, ''].map((way) => (
            <label key={way} className="choice">
              <input type="radio" name="known" value={way} defaultChecked={refused?.values.known === way} />
              {way || 'Another way, said below'}
            </label>
          ))}
        </fieldset>
      )}
      {hasWhy && (
        <WhyField
          hint={`${ways.length > 0 ? 'The ticket, or another way to know.' : 'At least 3 characters.'} For the audit: only staff see it.`}
          required={ways.length === 0}
          // The chosen way becomes part of the reason, so less room is left for the typed text.
          maxLength={ways.length === 0 ? undefined : 450}
          refused={refused}
        />
      )}
      <button type="submit" name="intent" value={intent} className={isDanger ? 'danger' : undefined}>
        {button}
      </button>
    </form>
  );
}

type WhyFieldProps = {
  label?: string;
  hint: string;
  id?: string;
  refused: Pick<Refused, 'values' | 'errors'> | undefined;
  required?: boolean;
  maxLength?: number;
  focusOnError?: boolean;
  autoFocus?: boolean;
};

/** The reason that each change by staff needs (contract 12.17). */
export const WhyField = ({
  label = 'Why',
  required = true,
  maxLength = 500,
  refused,
  ...field
}: WhyFieldProps) => (
  <Field
    {...field}
    label={label}
    name="why"
    required={required}
    minLength={3}
    maxLength={maxLength}
    autoComplete="off"
    defaultValue={refused?.values.why}
    error={refused?.errors.why}
  />
);

const Sides = ({ sides }: Pick<ActForm, 'sides'>) => (
  <div className="parties" data-sides>
    {sides.map(({ title, lines }) => (
      <div key={title}>
        <strong>{title}</strong>
        <address>
          {lines.map((line) => (
            <div key={line}>
              <bdi>{line}</bdi>
            </div>
          ))}
        </address>
      </div>
    ))}
  </div>
);

const pick = (values: Record<string, string>, names: string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));

/** In the text, `{name}` and `{email}` become the person's name and email address, and `{value}` becomes `value`. */
function Words({ text, value = '' }: { text: string; value?: string }) {
  const { name, email } = useContext(ActsContext);
  const set: Record<string, ReactNode> = {
    '{name}': <Name>{name}</Name>,
    '{email}': <strong>{email}</strong>,
    '{value}': <Name>{value}</Name>,
  };
  return createElement(Fragment, null, ...text.split(/(\{\w+\})/).map((part) => set[part] ?? part));
}

type FieldOfProps = { field: FormField; refused: Refused | undefined };

function FieldOf({ field, refused }: FieldOfProps) {
  const { name, label, kind, hint, value, isOptional, most, choices = [] } = field;
  const typed = refused?.values[name];
  const error = refused?.errors[name];
  const id = useId();
  if (kind === 'yes')
    return (
      <label className="choice">
        <input type="checkbox" name={name} value="yes" defaultChecked={typed === 'yes'} />
        {label}
      </label>
    );
  if (kind === 'one')
    return (
      <fieldset className="field">
        <legend>{label}</legend>
        {choices.map((choice) => (
          <label key={choice.value} className="choice">
            <input
              type="radio"
              name={name}
              value={choice.value}
              required
              defaultChecked={(typed ?? value) === choice.value}
            />
            <span>
              <Words text={choice.words} value={choice.value} />
            </span>
          </label>
        ))}
        {error && (
          <p className="error" role="alert">
            {error}
          </p>
        )}
      </fieldset>
    );
  if (kind === 'select')
    return (
      <Choice
        {...{ name, label, error }}
        id={id}
        value={typed ?? value ?? ''}
        options={[
          ['', 'Choose one'],
          ...choices.map(({ value: each, words }): [string, string] => [each, words]),
        ]}
      />
    );
  if (kind === 'lines')
    return <Lines {...{ name, label, hint, error }} required={!isOptional} value={typed ?? value} />;
  const Input = kind === 'email' ? EmailField : Field;
  return (
    <Input
      {...{ name, label, hint, error }}
      {...(kind === 'day' && { type: 'date', min: '2000-01-01', max: String(most) })}
      {...(kind === 'text' && most !== undefined && { maxLength: Number(most) })}
      {...(kind === 'decimal' && { inputMode: 'decimal' as const })}
      required={!isOptional}
      autoComplete="off"
      defaultValue={typed ?? value}
    />
  );
}

type LinesProps = {
  name: string;
  label: string;
  hint: string | undefined;
  error: string | undefined;
  required: boolean;
  value: string | undefined;
};

/** A field for text of several lines. An input would join the lines. */
function Lines({ name, label, hint, error, required, value }: LinesProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <textarea
        {...{ id, name, required }}
        rows={3}
        spellCheck={false}
        autoComplete="off"
        defaultValue={value}
        aria-invalid={error ? true : undefined}
        aria-describedby={`${id}-hint${error ? ` ${id}-error` : ''}`}
      />
      {error && (
        <p className="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** Shows the error of a hidden or missing field above the form. */
const withUnseen = (refused: Refused, shown: string[]): Refused => ({
  ...refused,
  message: refused.message ?? Object.entries(refused.errors).find(([name]) => !shown.includes(name))?.[1],
});

export function Refusal({ refused }: { refused: Refused | undefined }) {
  if (!refused) return null;
  if (refused.minutes) return <TooMany minutes={refused.minutes} about={refused.message} focus />;
  if (isNotDone(refused))
    return (
      <Notice kind="warning" focus>
        {notDone}
      </Notice>
    );
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

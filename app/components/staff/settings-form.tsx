import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { EmailField, Field } from '../field.tsx';
import { Section } from '../section.tsx';
import { WhyField } from './acts.tsx';
import { EditRows } from './edit-rows.tsx';
import { Choice } from './words.tsx';

type Fields = Record<string, string>;
type Sections = Awaited<ReturnType<Procedures['billingForms']['settings']>>['sections'];
type Part = NonNullable<Sections[string]>[number];

/** The keys of `values` and of `errors` are names of fields. */
type Filled = { values: Fields; errors: Fields };

function Line({ field, values, errors }: Filled & { field: Part['fields'][number] }) {
  const { name, label, isOptional, hint, inputMode, options } = field;
  const [value, error] = [values[name] ?? '', errors[name]];
  if (options) {
    // Keeps the saved value as a choice even if the list lacks it, because it may be an older name of a time zone.
    const known = Object.hasOwn(options, value) ? options : { [value]: value, ...options };
    return <Choice {...{ label, name, value, hint, error }} options={Object.entries(known)} />;
  }
  const Input = field.isEmail ? EmailField : Field;
  return (
    <Input
      label={isOptional ? `${label} (optional)` : label}
      id={name}
      name={name}
      {...(hint && { hint })}
      {...(inputMode && { inputMode })}
      defaultValue={value}
      error={error}
      required={!isOptional}
      autoComplete="off"
      focusOnError={false}
    />
  );
}

type PartsProps = Filled & { parts: Part[] | undefined; added: string | undefined };

function Parts({ parts = [], added, ...filled }: PartsProps) {
  return parts.map(({ fields, table }) => {
    if (table)
      return (
        <EditRows
          key={table.id}
          {...table}
          error={filled.errors[table.name]}
          isAdded={added === table.name}
          {...filled}
        />
      );
    const lines = fields.map((field) => <Line key={field.name} field={field} {...filled} />);
    return lines.length === 1 ? (
      lines
    ) : (
      <div key={fields[0]?.name} className="side-by-side">
        {lines}
      </div>
    );
  });
}

const titles: [id: string, title: string, intro?: string][] = [
  ['seller', 'Seller', 'Appears on each invoice, as the tax office knows it.'],
  [
    'payment',
    'How customers pay',
    'A new bank account or link counts after 24 hours. Every administrator gets an email at once, and can stop it until then.',
  ],
  [
    'numbers',
    'Numbers',
    'An invoice is numbered like INV-2026-0001: the beginning, the year, and a count without gaps.',
  ],
  ['terms', 'Terms'],
  [
    'tax',
    'Tax',
    'The buyer’s country decides; if they have said none, the seller’s does. A rule counts for periods that end on its day or later.',
  ],
  [
    'plans',
    'Plans',
    'What invoices call what was sold. A plan that is not listed is called by its own name. The price is for information: the CRM says what a customer pays.',
  ],
];

export function SettingsForm({
  sections,
  values,
  errors,
  seen,
  isFirst,
  added,
}: Filled & {
  sections: Sections;
  seen: string;
  isFirst: boolean;
  added: string | undefined;
}) {
  return (
    <form method="post" data-intent="set" className="settings">
      <input type="hidden" name="seen" value={seen} />
      {/* The Enter key presses the first button of a form, so the first button must not add a row. */}
      <button
        type="submit"
        name="intent"
        value="set"
        className="visually-hidden"
        tabIndex={-1}
        aria-hidden="true"
      >
        Save the settings
      </button>
      {titles.map(([id, title, intro]) => (
        <Section key={id} id={id} title={title} intro={intro}>
          <Parts parts={sections[id]} values={values} errors={errors} added={added} />
        </Section>
      ))}
      <Section id="save" title={isFirst ? 'Set up billing' : 'Save'}>
        <p data-notice>
          {isFirst
            ? 'These settings count at once. You can change them later, but not remove the seller.'
            : 'Invoices from now on have what you save. Those that were issued stay as they are.'}
        </p>
        <WhyField
          hint="At least 3 characters. Kept with the settings, and in the audit."
          id="why"
          refused={{ values, errors }}
          focusOnError={false}
        />
        <button type="submit" name="intent" value="set">
          Save the settings
        </button>
      </Section>
    </form>
  );
}

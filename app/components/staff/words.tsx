import { Badge, type Meaning } from '../badge.tsx';

const states: Record<string, [words: string, meaning: Meaning]> = {
  active: ['Active', 'good'],
  unproved: ['Email not verified', 'waiting'],
  leaving: ['Leaving', 'waiting'],
  suspended: ['Suspended', 'needs-you'],
  frozen: ['Frozen', 'needs-you'],
};

export function PersonState({ state }: { state: string }) {
  const [words, meaning] = states[state] ?? [state, 'neutral'];
  return <Badge meaning={meaning}>{words}</Badge>;
}

export const roleWords: Record<string, string> = {
  user: 'Customer',
  manager: 'Manager',
  admin: 'Administrator',
};

/** A name that somebody chose. `bdi` keeps the text around the name in place, even if the name is read from right to left. */
export const Name = ({ children }: { children: string }) => <bdi className="name">{children}</bdi>;

/** Like `Name`, for a cell of a table that has room for two lines. Another page shows the whole name. */
export const ShortName = ({ children }: { children: string }) => (
  <span className="two-lines">
    <Name>{children}</Name>
  </span>
);

const countries = new Intl.DisplayNames('en', { type: 'region' });

export const sayCountry = (code: string): string => countries.of(code) ?? code;

const billingWords: Record<string, string> = {
  '/account/billing': 'all billing details',
  '/account/billing/company': 'company',
  '/account/billing/address': 'address',
  '/account/billing/vat_id': 'VAT ID',
  '/account/billing/invoice_email': 'email address for invoices',
};

/**
 * Names the billing details of a signup that were left out, such as "address, VAT ID". `pointers` are JSON pointers to these
 * details.
 */
export const sayIgnored = (pointers: string[]) =>
  pointers.map((pointer) => billingWords[pointer] ?? pointer).join(', ');

/** For each code, why a period of a contract cannot be invoiced. */
export const blockedWords: Record<string, string> = {
  account_erased: 'The account is erased, so there is nobody to invoice. It is not tried again.',
  country_unread:
    'The billing address of its signup could not be read, and so not the country, which decides the tax. Enter it on the page of the person, or have the CRM report it again.',
  no_seller: 'There is no seller yet. Set one in the settings.',
  vat_id_unchecked:
    'The tax depends on a VAT ID of another EU country that nobody has checked. Say on the page of the person whether it is checked. After 14 days it is invoiced with tax.',
  no_tax_rule: 'No tax rule fits. Add one in the settings.',
  tax_currency:
    'Its price is in another currency than yours, and tax would be charged. Let the CRM report a price in yours.',
  price_too_high: 'Its price is too high for an invoice.',
};

export const personPath = (id: string) => `/admin/people/${id}`;

/** Links to the person's page unless the person was erased. */
export function PersonLink({ id, known }: { id: string; known: { id: string; name: string }[] }) {
  const person = known.find((each) => each.id === id);
  if (!person)
    return (
      <>
        somebody who has left, <code>{id}</code>
      </>
    );
  return (
    <a href={personPath(id)}>
      <Name>{person.name}</Name>
    </a>
  );
}

type ChoiceProps = {
  label: string;
  name: string;
  value: string;
  options: [value: string, words: string][];
  hint?: string | undefined;
  error?: string | undefined;
  id?: string;
};

export function Choice({ label, name, value, options, hint, error, id = name }: ChoiceProps) {
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <select
        {...{ id, name }}
        defaultValue={value}
        aria-invalid={error ? true : undefined}
        aria-describedby={described || undefined}
      >
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
      {error && (
        <p className="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** A choice for filters. The value `''` stands for no filter. */
export const Select = (props: ChoiceProps) => <Choice {...props} id={`filter-${props.name}`} />;

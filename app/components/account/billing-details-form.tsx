import { useId } from 'react';
import type { FieldName } from '../../forms.ts';
import type { Refused } from '../../refused.ts';
import { EmailField, Field } from '../field.tsx';
import type { OwnBilling } from './own-contracts.tsx';

/** The fields whose values the form still shows after a refusal. */
export const detailsFields: FieldName[] = [
  ...(['company', 'line1', 'line2', 'postcode', 'city', 'country', 'vatId', 'invoiceEmail'] as const),
];

type Props = Pick<OwnBilling, 'details' | 'countries'> & { email: string; refused: Refused | undefined };

/** Set if this form was refused. */
export function BillingDetailsForm({ details, countries, email, refused }: Props) {
  const { company, invoiceEmail, waiting } = details;
  const { address, country, vatId } = waiting ?? details;
  const present: Record<string, string> = {
    company: company ?? '',
    ...{ line1: address?.line1 ?? '', line2: address?.line2 ?? '' },
    ...{ postcode: address?.postcode ?? '', city: address?.city ?? '', country: country ?? '' },
    vatId: vatId ?? '',
    invoiceEmail: invoiceEmail ?? '',
  };
  const first = detailsFields.find((name) => refused?.errors[name]);
  const field = (name: string) => ({
    name,
    defaultValue: refused?.values[name] ?? present[name],
    error: refused?.errors[name],
    focusOnError: name === first,
  });
  return (
    // Without an action, the browser would post to the page's URL with its fragment (`#…`). After a refusal, that fragment
    // would draw the focus away from the faulty field.
    <form method="post" action="/profile/billing?edit=details" data-intent="details">
      <Field
        label="Company (optional)"
        hint="Leave it empty to have invoices made out to the name of your account."
        autoComplete="organization"
        {...field('company')}
      />
      <fieldset className="address">
        <legend>Address</legend>
        <p className="hint">Leave out the postal code or the city if addresses in your country have none.</p>
        <Field label="Street and number" autoComplete="address-line1" {...field('line1')} />
        <Field label="Second line (optional)" autoComplete="address-line2" {...field('line2')} />
        <div className="side-by-side">
          <Field label="Postal code" autoComplete="postal-code" {...field('postcode')} />
          <Field label="City" autoComplete="address-level2" {...field('city')} />
        </div>
        <CountryField countries={countries} {...field('country')} />
      </fieldset>
      <Field
        label="VAT ID (optional)"
        hint={sayVatId(vatId, details)}
        autoComplete="off"
        spellCheck={false}
        {...field('vatId')}
      />
      <EmailField
        label="Email address for invoices (optional)"
        hint={`Such as that of your accounts department. If you leave it empty, invoices go to ${email}. To be safe, we remove it if a password is set by email within 30 days, or if the account is taken back.`}
        autoComplete="off"
        {...field('invoiceEmail')}
      />
      <div className="actions">
        <button type="submit" name="intent" value="details">
          Save
        </button>
        <a href="/profile/billing#details">Cancel</a>
      </div>
    </form>
  );
}

/**
 * `vatId` may be a new VAT id that waits, together with a new postal address, until an administrator decides. Until then, the
 * VAT id in `counts` applies.
 */
export const sayVatId = (
  vatId: string | null,
  counts: Pick<OwnBilling['details'], 'vatId' | 'hasCheckedVatId' | 'hasRefusedVatId'>,
) => {
  if (vatId === null) return 'With the letters of your country, such as FR40303265045.';
  if (vatId === counts.vatId && counts.hasCheckedVatId) return 'We have checked this VAT ID.';
  if (vatId === counts.vatId && counts.hasRefusedVatId)
    return 'We could not confirm this VAT ID, so it makes no difference to the tax. Correct it, or contact us.';
  return 'We have not checked this VAT ID yet. Until we have, it makes no difference to the tax.';
};

type CountryFieldProps = Pick<OwnBilling, 'countries'> & {
  name: string;
  defaultValue: string | undefined;
  error: string | undefined;
  focusOnError: boolean;
};

function CountryField({ countries, name, defaultValue, error, focusOnError }: CountryFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Country</label>
      <select
        id={id}
        name={name}
        autoComplete="country"
        defaultValue={defaultValue}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-error` : undefined}
        // biome-ignore lint/a11y/noAutofocus: people have to correct this field
        autoFocus={focusOnError}
      >
        <option value="">Choose a country</option>
        {countries.map(({ code, name: words }) => (
          <option key={code} value={code}>
            {words}
          </option>
        ))}
      </select>
      <p className="error" id={`${id}-error`} role="alert" hidden={!error}>
        {error}
      </p>
    </div>
  );
}

import { createContext, useContext } from 'react';
import { EmailField, Field } from '../field.tsx';
import { Section } from '../section.tsx';
import { EditRows } from './edit-rows.tsx';
import { Choice } from './words.tsx';

type Fields = Record<string, string>;

/** What the fields hold, and what is wrong with them, by name. */
const FormContext = createContext<{ values: Fields; errors: Fields }>({ values: {}, errors: {} });

type LineProps = {
  label: string;
  name: string;
  hint?: string;
  isEmail?: boolean;
  isOptional?: boolean;
  inputMode?: 'numeric';
  placeholder?: string;
};

function Line({ label, name, isEmail = false, isOptional = false, ...input }: LineProps) {
  const { values, errors } = useContext(FormContext);
  const Input = isEmail ? EmailField : Field;
  return (
    <Input
      label={isOptional ? `${label} (optional)` : label}
      id={name}
      name={name}
      defaultValue={values[name] ?? ''}
      error={errors[name]}
      required={!isOptional}
      autoComplete="off"
      focusOnError={false}
      {...input}
    />
  );
}

function Select({
  name,
  ...more
}: {
  label: string;
  name: string;
  hint?: string;
  options: [string, string][];
}) {
  const { values, errors } = useContext(FormContext);
  return <Choice name={name} value={values[name] ?? ''} error={errors[name]} {...more} />;
}

/** The form of the settings of billing, as whoever keeps the books reads it. */
export function SettingsForm({
  values,
  errors,
  seen,
  isFirst,
}: {
  values: Fields;
  errors: Fields;
  seen: string;
  isFirst: boolean;
}) {
  const rows = { values, errors };
  return (
    <FormContext.Provider value={rows}>
      {/* The browser's own form, which goes to the address of the page. */}
      <form method="post" data-intent="set" className="settings">
        <input type="hidden" name="seen" value={seen} />
        <Section id="seller" title="Seller" intro="Stands on each invoice, as the tax office knows it.">
          <Line label="Name of the company" name="sellerName" />
          <Line label="Street and number" name="line1" />
          <Line label="Second line of the address" name="line2" isOptional />
          <div className="side-by-side">
            <Line label="Postcode" name="postcode" />
            <Line label="City" name="city" />
            <Line label="Country" hint="Two letters, such as DE" name="country" />
          </div>
          <div className="side-by-side">
            <Line label="VAT ID" hint="Such as DE123456789" name="vatId" isOptional />
            <Line
              label="Tax number"
              hint="One of the two is required where tax is charged"
              name="taxNumber"
              isOptional
            />
          </div>
          <Line label="Email address" hint="Where customers ask about invoices" name="email" isEmail />
          <div className="side-by-side">
            <Line
              label="Time zone"
              hint="Such as Europe/Berlin. It decides the day, and so the year, of each invoice"
              name="timeZone"
            />
            <Line label="Currency of the books" hint="Three letters, such as EUR" name="currency" />
          </div>
          <Line
            label="Foot of each page"
            hint="Such as the register, its number, and who manages the company"
            name="foot"
            isOptional
          />
        </Section>
        <Section
          id="payment"
          title="How customers pay"
          intro="A new bank account or link counts after 24 hours. Every administrator gets an email at once, and can stop it until then."
        >
          <div className="side-by-side">
            <Line label="IBAN" name="iban" isOptional />
            <Line label="BIC" name="bic" isOptional />
          </div>
          <Line
            label="Link to pay"
            hint="An https address. {number}, {amount} and {currency} in it become those of the invoice"
            name="paymentLink"
            isOptional
          />
          <Line label="Words about paying" name="paymentText" isOptional />
        </Section>
        <Section
          id="numbers"
          title="Numbers"
          intro="An invoice is numbered like INV-2026-0001: the beginning, the year, and a count without gaps."
        >
          <div className="side-by-side">
            <Line label="Invoices begin with" name="invoicePrefix" hint="A to Z, 0 to 9 and hyphens" />
            <Line
              label="Credit notes begin with"
              name="creditNotePrefix"
              hint="Another beginning than that of invoices"
            />
          </div>
        </Section>
        <Section id="terms" title="Terms">
          <div className="side-by-side">
            <Line
              label="Days to pay"
              hint="From the day of the invoice"
              name="daysToPay"
              inputMode="numeric"
            />
            <Line
              label="Days until a contract is past due"
              hint="After the last day to pay"
              name="pastDueAfter"
              inputMode="numeric"
            />
          </div>
          <div className="side-by-side">
            <Line
              label="Days until the first reminder"
              hint="After the last day to pay"
              name="firstReminder"
              inputMode="numeric"
            />
            <Line
              label="Days until the second reminder"
              hint="At least six more than the first"
              name="secondReminder"
              inputMode="numeric"
            />
          </div>
          <Select
            label="May customers cancel on their billing page?"
            name="customersMayCancel"
            options={[
              ['yes', 'Yes'],
              ['no', 'No'],
            ]}
          />
        </Section>
        <Section
          id="tax"
          title="Tax"
          intro="The buyer’s country decides; if they have said none, the seller’s does. A rule counts for periods that end on its day or later."
        >
          <Select
            label="Prices of plans are"
            name="prices"
            options={[
              ['net', 'Before tax (net): tax is added'],
              ['gross', 'With tax (gross): tax is part of them'],
            ]}
          />
          <EditRows
            id="rules"
            caption="Tax rules"
            row="rule"
            hint="One row each for the seller’s own country and for *, which counts for every country without a rule of its own, also in the EU. Empty a row to remove it; save to get more empty rows."
            error={errors.rules}
            columns={[
              { name: 'ruleCountry', title: 'Country' },
              { name: 'ruleRate', title: 'Rate in %', inputMode: 'decimal' },
              {
                name: 'ruleCategory',
                title: 'Category',
                options: [
                  ['', 'Choose'],
                  ['S', 'S: taxed'],
                  ['E', 'E: exempt'],
                  ['O', 'O: out of scope'],
                ],
              },
              { name: 'ruleWords', title: 'Words, if no tax' },
              { name: 'ruleFrom', title: 'From', type: 'date' },
            ]}
            {...rows}
          />
          <Line
            label="Words of invoices under reverse charge"
            hint="Must contain “Reverse charge”."
            name="reverseChargeWords"
          />
        </Section>
        <Section
          id="plans"
          title="Plans"
          intro="What invoices call what was sold. A plan that is not listed is called by its own name. The price is for information: the CRM says what a customer pays."
        >
          <EditRows
            id="plans-rows"
            caption="Plans"
            row="plan"
            hint="The plan’s name is that of the CRM, such as starter."
            error={errors.plans}
            columns={[
              { name: 'plan', title: 'Plan' },
              { name: 'planTitle', title: 'Title' },
              { name: 'planDescription', title: 'Description' },
              { name: 'planPrice', title: 'Price', inputMode: 'decimal' },
            ]}
            {...rows}
          />
        </Section>
        <Section id="save" title={isFirst ? 'Set up billing' : 'Save'}>
          <p data-notice>
            {isFirst
              ? 'These settings count at once. From then on new invoices are documents of the seller, and the way back is only to other settings.'
              : 'Invoices from now on have what you save. Those that were issued stay as they are.'}
          </p>
          <Field
            label="Why"
            hint="At least 3 characters. Kept with the settings, and in the audit."
            id="why"
            name="why"
            required
            minLength={3}
            maxLength={500}
            autoComplete="off"
            defaultValue={values.why}
            error={errors.why}
            focusOnError={false}
          />
          <button type="submit" name="intent" value="set">
            Save the settings
          </button>
        </Section>
      </form>
    </FormContext.Provider>
  );
}

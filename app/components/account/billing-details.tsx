import type { Refused } from '../../refused.ts';
import { Fact } from '../fact.tsx';
import { Notice } from '../notice.tsx';
import { Section } from '../section.tsx';
import { BillingDetailsForm, sayVatId } from './billing-details-form.tsx';
import { Outcome } from './outcome.tsx';
import type { OwnBilling } from './own-contracts.tsx';

type Props = Pick<OwnBilling, 'details' | 'countries'> & {
  email: string;
  isEditing: boolean;
  saved: string | null;
  refused: Refused | undefined;
};

export const hasDetails = ({ company, address, country, vatId, invoiceEmail, waiting }: Props['details']) =>
  [company, address, country, vatId, invoiceEmail, waiting].some((detail) => detail !== null);

/** The details as text, or as a form that stays open after a mistake (contract 7.468). */
export function BillingDetails({ details, countries, email, isEditing, saved, refused: any }: Props) {
  const refused = any?.values.intent === 'details' ? any : undefined;
  const { invoiceEmail, hasProvedInvoiceEmail, waiting } = details;
  const waitsFor = invoiceEmail !== null && !hasProvedInvoiceEmail ? invoiceEmail : undefined;
  const shown = { details, countries, email };
  return (
    <Section
      id="details"
      title="Billing details"
      intro="We put them on your invoices from now on. Invoices that you already have stay as they are."
      bare
    >
      <div className="card">
        <Outcome intent="details" saved={saved} refused={any}>
          Saved.
        </Outcome>
        {waiting && <WhatWaits country={waiting.country} countries={countries} />}
        {!any && saved !== 'details' && <WhatIsMissing {...details} />}
        {isEditing || refused ? <BillingDetailsForm {...shown} refused={refused} /> : <Text {...shown} />}
        {waitsFor && (
          <>
            <Outcome intent="mail-invoice-email" saved={saved} refused={any}>
              We have sent the email again.
            </Outcome>
            <form method="post" action="/profile/billing" data-intent="mail-invoice-email" className="waits">
              <p>
                <strong>{waitsFor}</strong> gets no invoices yet: nobody has used the link in our email to it.
                Until then they go to {email}.
              </p>
              <button type="submit" name="intent" value="mail-invoice-email" className="quiet">
                Send the email again
              </button>
            </form>
          </>
        )}
      </div>
    </Section>
  );
}

const none = <span className="hint">None</span>;

function Text({ details, countries, email }: Pick<Props, 'details' | 'countries' | 'email'>) {
  const { company, invoiceEmail, hasProvedInvoiceEmail, waiting } = details;
  const { address, country, vatId } = waiting ?? details;
  const named = countries.find(({ code }) => code === country)?.name ?? country;
  const lines = [
    address?.line1,
    address?.line2,
    address && `${address.postcode} ${address.city}`.trim(),
    named,
  ];
  return (
    <>
      <dl className="facts">
        <Fact name="Company">{company ? <bdi>{company}</bdi> : none}</Fact>
        <Fact name="Address">
          {named
            ? lines.filter(Boolean).map((line, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change places
                <div key={at}>
                  <bdi>{line}</bdi>
                </div>
              ))
            : none}
        </Fact>
        <Fact name="VAT ID">
          {vatId ? (
            <>
              <bdi>{vatId}</bdi>
              <p className="hint">{sayVatId(vatId, details)}</p>
            </>
          ) : (
            none
          )}
        </Fact>
        <Fact name="Invoices go to">{(hasProvedInvoiceEmail && invoiceEmail) || email}</Fact>
      </dl>
      <div className="actions">
        <a className="button secondary" href="/profile/billing?edit=details#details">
          Edit<span className="visually-hidden"> your billing details</span>
        </a>
      </div>
    </>
  );
}

const parts: Record<string, string> = {
  '/account/billing': 'billing details',
  '/account/billing/company': 'a company name',
  '/account/billing/address': 'an address',
  '/account/billing/vat_id': 'a VAT ID',
  '/account/billing/invoice_email': 'an email address for invoices',
};

function WhatIsMissing({ ignored, address, waiting, isCountryUnread }: OwnBilling['details']) {
  const wrong = ignored.flatMap((pointer) => parts[pointer] ?? []);
  if (wrong.length > 0)
    return (
      <Notice kind="warning">
        When you ordered, we got {wrong.join(' and ')} that we could not use. Check your details and save
        them.{isCountryUnread && ' We cannot make your invoices until we know your country.'}
      </Notice>
    );
  if (address || waiting) return null;
  return (
    <Notice kind="info">
      Your address is not on your invoices yet. A business needs it there. Without it there is no electronic
      invoice (XML).
    </Notice>
  );
}

function WhatWaits({ country, countries }: Pick<OwnBilling, 'countries'> & { country: string }) {
  const named = countries.find(({ code }) => code === country)?.name ?? country;
  return (
    <Notice kind="info">
      Your new country, {named}, changes the tax on your invoices, so we check it first. Until then your
      invoices keep the address, the VAT ID and the tax from before.
    </Notice>
  );
}

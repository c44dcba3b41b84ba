import { Badge } from '../badge.tsx';
import { Section } from '../section.tsx';
import { Act, type Person } from './act.tsx';
import { Name, sayIgnored } from './words.tsx';

type Address = NonNullable<NonNullable<Person['billing']>['address']>;

const listLines = ({ line1, line2, postcode, city, country }: Address) =>
  [line1, line2, `${postcode} ${city}`.trim(), country].map(
    (line) =>
      line && (
        <div key={line}>
          <Name>{line}</Name>
        </div>
      ),
  );

const none = <span className="hint">None</span>;

/** To whom documents of the account are made out, and whether the VAT id counts. */
export function BillingSection({ person }: { person: Person }) {
  const { billing, account } = person;
  if (!billing) return null;
  const {
    company,
    address,
    country,
    waiting,
    vatId,
    hasCheckedVatId,
    invoiceEmail,
    provedInvoiceEmail,
    ignored,
  } = billing;
  return (
    <Section
      id="billing"
      title="Billing details"
      intro={account.others.length > 0 ? 'They hold for everybody in the account.' : undefined}
    >
      <dl className="facts">
        <dt>Company</dt>
        <dd>{company ? <Name>{company}</Name> : none}</dd>
        <dt>Address</dt>
        <dd>
          {address ? listLines(address) : country ? `None, but the country is known: ${country}` : none}
        </dd>
        <dt>VAT ID</dt>
        <dd>
          {vatId ? (
            <>
              <Name>{vatId}</Name>{' '}
              <Badge meaning={hasCheckedVatId ? 'good' : 'waiting'}>
                {hasCheckedVatId ? 'Checked' : 'Not checked'}
              </Badge>
            </>
          ) : (
            none
          )}
        </dd>
        <dt>Invoices go to</dt>
        <dd>
          {invoiceEmail ? (
            <>
              <Name>{invoiceEmail}</Name> {provedInvoiceEmail ? '(confirmed)' : '(not confirmed yet)'}
            </>
          ) : (
            'The person’s own address'
          )}
        </dd>
        {waiting && (
          <>
            <dt>Waits for you</dt>
            <dd>
              {waiting.address ? listLines(waiting.address) : waiting.country}
              <div>
                {waiting.vatId ? (
                  <>
                    VAT ID <Name>{waiting.vatId}</Name>
                  </>
                ) : (
                  'No VAT ID'
                )}
              </div>
            </dd>
          </>
        )}
        {ignored.length > 0 && (
          <>
            <dt>Left out of a signup</dt>
            <dd>{sayIgnored(ignored)}. Ask the customer to enter it under Billing.</dd>
          </>
        )}
      </dl>
      {waiting && (
        <div className="acts">
          <Act
            intent="accept-country"
            about={{ country: waiting.country, accepted: 'yes' }}
            label={`Accept the new country, ${waiting.country}`}
            button="Accept the country"
            notice="Invoices from now on have the new address and VAT ID, and the tax of that country. The VAT ID is not checked. Earlier invoices stay: issue them again if they are wrong. The person sees the new address, and gets no email."
          />
          <Act
            intent="accept-country"
            about={{ country: waiting.country, accepted: 'no' }}
            label={`Refuse the new country, ${waiting.country}`}
            button="Refuse the country"
            danger
            notice="Address, VAT ID and tax stay as they were, and reports of the CRM do not change the address any more. But where no country could be read, invoices stay held, and you are asked again when the person or the CRM says another. The person sees the address of before, and gets no email: tell them why."
          />
        </div>
      )}
      {vatId && (
        <div className="acts">
          <Act
            intent="check-vat-id"
            about={{ vatId, checked: 'yes' }}
            label="Mark the VAT ID as checked"
            button="Mark as checked"
            notice="Invoices from now on may be without tax (reverse charge). The person sees that we have checked the ID, and gets no email. A changed ID has to be checked again."
          />
          <Act
            intent="check-vat-id"
            about={{ vatId, checked: 'no' }}
            label="Mark the VAT ID as not checked"
            button="Mark as not checked"
            danger
            notice="Invoices from now on are with tax. The person sees that we have not checked the ID, and gets no email."
          />
        </div>
      )}
    </Section>
  );
}

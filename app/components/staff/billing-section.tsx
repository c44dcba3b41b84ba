import { Contracts } from '../account/contracts.tsx';
import { Badge } from '../badge.tsx';
import { Fact } from '../fact.tsx';
import { Instant } from '../instant.tsx';
import { Section } from '../section.tsx';
import { Acts, type Person } from './acts.tsx';
import { Name, sayCountry, sayIgnored } from './words.tsx';

type Address = NonNullable<NonNullable<Person['billing']>['address']>;

const listLines = ({ line1, line2, postcode, city, country }: Address) =>
  [line1, line2, `${postcode} ${city}`.trim(), sayCountry(country)].map(
    (line) =>
      line && (
        <div key={line}>
          <Name>{line}</Name>
        </div>
      ),
  );

const none = <span className="hint">None</span>;

export function BillingSection({ person }: { person: Person }) {
  const { billing, account } = person;
  if (!billing)
    return (
      <Section id="billing" title="Billing details">
        <p>There are no billing details yet.</p>
        <Acts at="billing" />
      </Section>
    );
  const { company, address, country, waiting, vatId, vatCheck, invoiceEmail, ignored } = billing;
  const { hasCheckedVatId, hasRefusedVatId, provedInvoiceEmail } = billing;
  return (
    <Section
      id="billing"
      title="Billing details"
      intro={account.others.length > 0 ? 'They hold for everybody in the account.' : undefined}
    >
      <dl className="facts">
        <Fact name="Company">{company ? <Name>{company}</Name> : none}</Fact>
        <Fact name="Address">
          {address
            ? listLines(address)
            : country
              ? `None, but the country is known: ${sayCountry(country)}`
              : none}
        </Fact>
        <Fact name="VAT ID">
          {vatId ? (
            <>
              <Name>{vatId}</Name>{' '}
              <Badge meaning={hasCheckedVatId ? 'good' : hasRefusedVatId ? 'neutral' : 'waiting'}>
                {hasCheckedVatId ? 'Checked' : hasRefusedVatId ? 'Does not count' : 'Not checked'}
              </Badge>
              {vatCheck && <VatCheck {...vatCheck} />}
            </>
          ) : (
            none
          )}
        </Fact>
        <Fact name="Invoices go to">
          {invoiceEmail ? (
            <>
              <Name>{invoiceEmail}</Name> {provedInvoiceEmail ? '(confirmed)' : '(not confirmed yet)'}
            </>
          ) : (
            'The person’s own address'
          )}
        </Fact>
        {waiting && (
          <Fact name="Waits for you">
            {waiting.address ? listLines(waiting.address) : sayCountry(waiting.country)}
            <div>
              {waiting.vatId ? (
                <>
                  VAT ID <Name>{waiting.vatId}</Name>
                </>
              ) : (
                'No VAT ID'
              )}
            </div>
          </Fact>
        )}
        {ignored.length > 0 && (
          <Fact name="Left out of a signup">
            {sayIgnored(ignored)}. Enter it below, or ask the customer to.
          </Fact>
        )}
      </dl>
      <Acts at="billing" />
    </Section>
  );
}

type Answer = NonNullable<NonNullable<Person['billing']>['vatCheck']>;

function VatCheck({ isValid, askedAt, name, address, consultation }: Answer) {
  return (
    <p className="hint">
      VIES, <Instant at={askedAt} />: {isValid ? 'valid' : 'not valid'}
      {isValid &&
        (name ? (
          <>
            , <Name>{[name, address].filter(Boolean).join(', ')}</Name>
          </>
        ) : (
          ', without a name'
        ))}
      {consultation && (
        <>
          . Consultation number <code>{consultation}</code>
        </>
      )}
    </p>
  );
}

/** Only administrators see what will be invoiced. Only they can cancel contracts. */
export function StaffContracts({ contracts, isAdmin }: Pick<Person, 'contracts'> & { isAdmin: boolean }) {
  if (contracts.length === 0) return null;
  return (
    <Contracts
      contracts={contracts}
      isOwn={false}
      more={
        isAdmin
          ? ({ id, signupId, plan }) => (
              <>
                <p>
                  <a className="alone" href={`/admin/billing/preview?signup=${encodeURIComponent(signupId)}`}>
                    What will be invoiced
                  </a>
                </p>
                <Acts
                  at="contract"
                  about={{ contract: id }}
                  named={
                    <>
                      <span className="plan">{plan}</span>, {signupId}
                    </>
                  }
                />
              </>
            )
          : undefined
      }
    />
  );
}

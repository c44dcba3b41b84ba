import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, personPath, sayIgnored } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const handle = { isStatic: true };

export const meta = titled('Billing overview');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, (procedures) => procedures.admin.billing.summary());

const ages = {
  not_due: 'Not due yet',
  to_30_days: 'Overdue for up to 30 days',
  to_60_days: 'Overdue for 31 to 60 days',
  to_90_days: 'Overdue for 61 to 90 days',
  longer: 'Overdue for more than 90 days',
};

const reasons: Record<string, string> = {
  account_erased: 'The account is erased, so there is nobody to invoice. It is not tried again.',
  no_tax_rule: 'No tax rule fits. Add one in the settings.',
  tax_currency: 'Its price is in another currency than yours, and tax would be charged.',
  price_too_high: 'Its price is too high for an invoice.',
};

const linkTo = (userId: string | null) => (userId ? personPath(userId) : undefined);

export default function AdminBilling() {
  const { who, open, overdue, held, incomplete, ignored, unmade, unallocated } =
    useLoaderData<typeof loader>();
  return (
    <StaffPage
      title="Billing"
      intro="What customers owe, and what waits for somebody."
      who={who}
      current="/admin/billing"
      part="/admin/billing"
    >
      <Section id="open" title="Open invoices">
        <List nothing="Nothing is open.">
          {open.map(({ age, count, amount, ...money }) => (
            <Row
              key={`${money.currency} ${age}`}
              href={age === 'not_due' ? undefined : '#overdue'}
              title={ages[age]}
              about={`${count} ${count === 1 ? 'invoice' : 'invoices'}`}
              end={<Money {...money} unitAmount={amount} />}
            />
          ))}
        </List>
      </Section>
      <Section
        id="overdue"
        title="Overdue invoices"
        intro={overdue.length > 0 && 'The longest overdue first, 100 at most.'}
      >
        <List nothing="Nothing is overdue.">
          {overdue.map(({ number, buyer, dueAt, open: unitAmount, ...money }) => (
            <Row
              key={number}
              href={`/admin/invoices/${number}`}
              title={`Invoice ${number}`}
              about={
                <>
                  {buyer && (
                    <>
                      <Name>{buyer}</Name>,{' '}
                    </>
                  )}
                  was due on <Day at={dueAt} />
                </>
              }
              end={<Money {...money} unitAmount={unitAmount} />}
            />
          ))}
        </List>
      </Section>
      <Section id="unallocated" title="Unallocated payments">
        <List nothing="All money is allocated.">
          {unallocated.map(({ isRefund, count, amount, ...money }) => (
            <Row
              key={`${money.currency} ${isRefund}`}
              href="/admin/billing/unallocated"
              title={`${count} ${isRefund ? 'refund' : 'payment'}${count === 1 ? '' : 's'}`}
              about={
                isRefund
                  ? 'We do not know the payment that went back, or more went back than came in.'
                  : 'Say which invoice it pays, or that it was paid back.'
              }
              end={<Money {...money} unitAmount={amount} />}
            />
          ))}
        </List>
      </Section>
      <Section
        id="held"
        title="Held periods"
        intro="They cannot be invoiced now. Each is tried again every minute, unless its account is erased."
      >
        <List nothing="Nothing is held.">
          {held.map(({ signupId, plan, code, startsAt, userId }) => (
            <Row
              key={signupId}
              href={linkTo(userId)}
              title={`${plan}, ${signupId}`}
              about={
                <span data-held={code}>
                  {startsAt && (
                    <>
                      The period from <Day at={startsAt} />.{' '}
                    </>
                  )}
                  {reasons[code] ?? code}
                </span>
              }
            />
          ))}
        </List>
      </Section>
      <Section
        id="incomplete"
        title="Incomplete"
        intro="Ask the customer to complete their details under Billing. Then issue the invoice again. One that is credited in part cannot be: credit the rest, and the next one has the address."
      >
        <List nothing="Nothing is incomplete.">
          {[
            ...incomplete.map(({ number, buyer }) => (
              <Row
                key={number}
                href={`/admin/invoices/${number}`}
                title={`Invoice ${number}`}
                about={
                  <>
                    It has no address of its buyer, <Name>{buyer}</Name>.
                  </>
                }
              />
            )),
            ...ignored.map((account) => (
              <Row
                key={`${account.userId} ${account.accountName}`}
                href={linkTo(account.userId)}
                title={<Name>{account.accountName}</Name>}
                about={`The CRM reported billing details that are not valid: ${sayIgnored(account.ignored)}`}
              />
            )),
          ]}
        </List>
      </Section>
      <Section id="unmade" title="Documents without a file">
        <List nothing="All files could be made.">
          {unmade.map(({ number, tries, lastError }) => (
            <Row
              key={number}
              href={`/admin/invoices/${number}`}
              title={number}
              about={`Tried ${tries} times: ${lastError}`}
            />
          ))}
        </List>
      </Section>
    </StaffPage>
  );
}

function List({ nothing, children }: { nothing: string; children: ReactNode }) {
  const isEmpty = Array.isArray(children) ? children.length === 0 : !children;
  return isEmpty ? <p className="hint">{nothing}</p> : <Rows>{children}</Rows>;
}

import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import { WaitingPeriods } from '../components/account/own-contracts.tsx';
import { Day, Instant } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { IncomeTable, RecurringTable, sayMonth } from '../components/staff/billing-reports.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { blockedWords, Name, personPath, sayIgnored } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Billing overview');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => {
    const query = args.context.transport.readQuery(args.request);
    const asked = query.get('before') ?? undefined;
    const before = asked !== undefined && /^20\d\d-(0[1-9]|1[0-2])$/.test(asked) ? asked : undefined;
    return { ...(await procedures.admin.billing.summary({ before })), before };
  });

const ages = {
  not_due: 'Not due yet',
  to_30_days: 'Overdue for up to 30 days',
  to_60_days: 'Overdue for 31 to 60 days',
  to_90_days: 'Overdue for 61 to 90 days',
  longer: 'Overdue for more than 90 days',
};

const linkTo = (userId: string | null) => (userId ? personPath(userId) : undefined);

export default function AdminBilling() {
  const summary = useLoaderData<typeof loader>();
  const { who, before, vatIds, open, overdue, pastDue, held, countries, incomplete, ignored } = summary;
  const { unmade, unprinted, unallocated, trials, recurring, prices, income, waitsSince, more } = summary;
  const leavesOut = (name: string) => more.includes(name);
  const first = (name: string, order: string) =>
    leavesOut(name) ? `There are more than 100. These are ${order}.` : undefined;
  const counts: [id: string, title: string, count?: number, isMore?: boolean][] = [
    ['vat-ids', 'VAT IDs to check', vatIds.length, leavesOut('vatIds')],
    ['overdue', 'Overdue', overdue.length, leavesOut('overdue')],
    ['past-due', 'Past due', pastDue.length, leavesOut('pastDue')],
    ['unallocated', 'Unallocated', unallocated.reduce((sum, { count }) => sum + count, 0)],
    ['held', 'Blocked', held.length, leavesOut('held')],
    ['countries', 'New countries', countries.length, leavesOut('countries')],
    [
      ...(['incomplete', 'Incomplete', incomplete.length + ignored.length] as const),
      leavesOut('incomplete') || leavesOut('ignored'),
    ],
    ['unmade', 'Without a file', unmade.length, leavesOut('unmade')],
    ['unprinted', 'With □', unprinted.length, leavesOut('unprinted')],
    ['trials', 'Trials', trials.length, leavesOut('trials')],
    ['open', 'Open'],
    ['recurring', 'Recurring'],
    ['income', 'Income'],
  ];
  return (
    <StaffPage
      title="Billing"
      intro="What waits for somebody comes first, then what is to come, then what was invoiced."
      who={who}
      current="/admin/billing"
      part="/admin/billing"
    >
      {waitsSince && (
        <Notice kind="warning">
          Billing waits: the database was restored on <Instant at={waitsSince} />. Nothing is issued, and no
          email about billing leaves, until an operator runs <code>billing:resume</code>.
        </Notice>
      )}
      <nav className="parts" aria-label="On this page">
        <ul>
          {counts.map(([id, title, count, isMore]) => (
            <li key={id}>
              <a href={`#${id}`}>
                {title}
                {count !== undefined && (
                  <>
                    {' '}
                    <span
                      className={count > 0 ? 'parts-some' : undefined}
                    >{`${count}${isMore ? '+' : ''}`}</span>
                  </>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Section
        id="vat-ids"
        title="VAT IDs to check"
        intro={`They decide the tax. Check each at VIES, the EU’s register, and say on the page of the person whether it is checked. The invoice waits for that, 14 days at most, and is then issued with tax. ${first('vatIds', 'the longest waiting') ?? ''}`}
      >
        <List nothing="No VAT ID waits.">
          {vatIds.map(({ accountName, userId, vatId, since }) => (
            <Row
              key={`${userId} ${accountName}`}
              href={userId ? `${personPath(userId)}/billing` : undefined}
              title={<Name>{accountName}</Name>}
              about={
                <span data-vat-id={vatId}>
                  {vatId}
                  {since && (
                    <>
                      , an invoice first waited on <Instant at={since} />
                    </>
                  )}
                </span>
              }
            />
          ))}
        </List>
      </Section>
      <Section
        id="overdue"
        title="Overdue invoices"
        intro={
          first('overdue', 'the longest overdue') ?? (overdue.length > 0 && 'The longest overdue first.')
        }
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
                      <Name>{buyer}</Name>
                      <br />
                    </>
                  )}
                  Was due on <Day at={dueAt} />
                </>
              }
              end={<Money {...money} unitAmount={unitAmount} />}
            />
          ))}
        </List>
      </Section>
      <Section
        id="past-due"
        title="Contracts past due"
        intro={first('pastDue', 'the longest overdue') ?? 'The amount is all that is open of them.'}
      >
        <List nothing="No contract is past due.">
          {pastDue.map(({ signupId, plan, accountName, userId, dueAt, open: amounts, waiting }) => (
            <Row
              key={signupId}
              href={linkTo(userId)}
              title={accountName ? <Name>{accountName}</Name> : 'Erased'}
              about={
                <>
                  {plan}, {signupId}. The oldest invoice was due on <Day at={dueAt} />.{' '}
                  {waiting.count > 0 && (
                    <WaitingPeriods
                      count={waiting.count}
                      sums={waiting.sums.map(({ amount, ...money }) => ({ ...money, unitAmount: amount }))}
                      isBeforeTax={prices === 'net'}
                    />
                  )}
                </>
              }
              end={amounts.map(({ amount, ...money }) => (
                <Money key={money.currency} {...money} unitAmount={amount} />
              ))}
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
        title="Blocked periods"
        intro={`They cannot be invoiced now. Each is tried again every minute, unless its account is erased. ${first('held', 'the longest blocked') ?? ''}`}
      >
        <List nothing="Nothing is blocked.">
          {held.map(({ signupId, plan, code, startsAt, userId }) => (
            <Row
              key={signupId}
              href={linkTo(userId)}
              title={`${plan}, ${signupId}`}
              about={
                <span data-held={code}>
                  The period from <Day at={startsAt} />. {blockedWords[code] ?? code}
                </span>
              }
            />
          ))}
        </List>
      </Section>
      <Section
        id="countries"
        title="New countries"
        intro={`They change the tax, so they wait until you accept or refuse them on the page of the person. Until then invoices have the address and the tax of before. ${first('countries', 'the longest waiting') ?? ''}`}
      >
        <List nothing="No new country waits.">
          {countries.map(({ accountName, userId, country, asked, since, isOverdue }) => (
            <Row
              key={`${userId} ${accountName}`}
              href={userId ? `${personPath(userId)}#billing` : undefined}
              title={<Name>{accountName}</Name>}
              about={
                <span data-country={asked}>
                  {country ?? 'No country'} to {asked}, since <Instant at={since} />.
                  {isOverdue && <strong> Overdue: it has waited for over 14 days.</strong>}
                </span>
              }
            />
          ))}
        </List>
      </Section>
      <Section
        id="incomplete"
        title="Incomplete"
        intro={`Ask the customer to complete their details under Billing. Then issue the invoice again. One that is credited in part cannot be: credit the rest, and the next one has the address. ${
          first('incomplete', 'the newest invoices') ?? first('ignored', 'the first accounts by name') ?? ''
        }`}
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
      <Section
        id="unmade"
        title="Documents without a file"
        intro={`${first('unmade', 'the first by their number') ?? ''} The emails about them leave without the PDF a day after the issue.`.trim()}
      >
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
      <Section
        id="unprinted"
        title="Letters that no font has"
        intro={`${first('unprinted', 'the newest') ?? 'Of the last 30 days.'} The PDF shows □ for these letters; its e-invoice has them. With a font for them in BILLING_FONT_FILES, new documents show them.`}
      >
        <List nothing="Each letter could be shown.">
          {unprinted.map(({ number, letters }) => (
            <Row key={number} href={`/admin/invoices/${number}`} title={number} about={letters} />
          ))}
        </List>
      </Section>
      <Section
        id="trials"
        title="Trials that end"
        intro={first('trials', 'the soonest') ?? 'Within the next 30 days, the soonest first.'}
      >
        <List nothing="No trial ends within 30 days.">
          {trials.map(({ signupId, plan, accountName, userId, lastDay }) => (
            <Row
              key={signupId}
              href={linkTo(userId)}
              title={accountName ? <Name>{accountName}</Name> : 'Erased'}
              about={
                <>
                  {plan}, {signupId}
                </>
              }
              end={<Day at={new Date(lastDay)} />}
            />
          ))}
        </List>
      </Section>
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
        id="recurring"
        title="Recurring"
        intro={`What active contracts bring in a month, at the prices of the CRM${prices ? (prices === 'net' ? ', before tax' : ', with tax') : ''}. A yearly price counts as a twelfth; each amount is rounded once. Contracts past due are not counted.`}
      >
        {recurring.length > 0 ? (
          <RecurringTable recurring={recurring} />
        ) : (
          <Nothing>No contract is active.</Nothing>
        )}
      </Section>
      <Section
        id="income"
        title={before ? `Income before ${sayMonth(before)}` : 'Income'}
        intro="Invoices less credit notes, paid or not, by the month of their date, as in tax.csv of the export."
      >
        {income.rows.length > 0 ? (
          <IncomeTable rows={income.rows} />
        ) : (
          <Nothing>Nothing was issued in these months.</Nothing>
        )}
        {(income.earlier || before) && (
          <p className="actions">
            {income.earlier && <a href={`?before=${income.earlier}#income`}>Earlier months</a>}
            {before && <a href="/admin/billing#income">The newest months</a>}
          </p>
        )}
      </Section>
    </StaffPage>
  );
}

const List = ({ nothing, children }: { nothing: string; children: ReactNode[] }) =>
  children.length === 0 ? <Nothing>{nothing}</Nothing> : <Rows>{children}</Rows>;

const Nothing = ({ children }: { children: string }) => <p className="hint">{children}</p>;

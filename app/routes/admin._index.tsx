import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { both } from '../components/staff/bar-chart.tsx';
import { Counts } from '../components/staff/counts.tsx';
import { Filters, FindField } from '../components/staff/filters.tsx';
import { LoginChart } from '../components/staff/login-chart.tsx';
import {
  handOffWords,
  launchWords,
  loginWords,
  mailWords,
  numberWords,
  sayChange,
  sayResult,
  signupWords,
} from '../components/staff/overview-words.ts';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { whole } from '../components/whole.ts';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Overview');

const spans = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

export async function loader(args: LoaderFunctionArgs) {
  const asked = args.context.transport.readQuery(args.request).get('of');
  const of = spans.find(([span]) => span === asked)?.[0] ?? '24h';
  const loaded = await loadForStaff(args, async (procedures, who) => {
    if (who.role !== 'admin') throw redirect('/admin/people', 303);
    return procedures.admin.overview.get({ of });
  });
  return { ...loaded, of };
}

type Result = { result: string; count: number };

const toCounts = (results: Result[], words: Record<string, string>) =>
  results.map(({ result, count }) => ({ key: result, words: sayResult(words, result), count }));

export default function Overview() {
  const found = useLoaderData<typeof loader>();
  const { who, of, since, unit, numbers, series, countLimit, now } = found;
  const words = spans.find(([span]) => span === of)?.[1] ?? '';
  const say = (count: number) => (count < countLimit ? whole(count) : `${whole(countLimit)} or more`);
  return (
    <StaffPage
      title="Overview"
      intro="Find who asks for help. Below is the last day, week or month in numbers, and what waits for somebody."
      who={who}
      current="/admin"
    >
      <Filters path="/admin/people" asked={{}} button="Find people">
        <FindField autoFocus />
      </Filters>
      <section aria-labelledby="numbers">
        <div className="section-heading">
          <h2 id="numbers">The last {words}</h2>
        </div>
        <nav className="tabs" aria-label="How far back">
          <ul>
            {spans.map(([span, words]) => (
              <li key={span}>
                <a
                  href={span === '24h' ? '/admin' : `/admin?of=${span}`}
                  aria-current={span === of ? 'page' : undefined}
                >
                  {words}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <dl className="card numbers">
          {numbers.map(({ name, count, changePercent }) => (
            <div key={name} data-number={name}>
              <dt>{numberWords[name]}</dt>
              <dd>
                <strong>{whole(count)}</strong>
                {changePercent !== null && (
                  <span className="hint">
                    {sayChange(changePercent)} the {words} before
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      </section>
      <Section id="now" title="What waits for somebody">
        <Rows>
          <Row
            href="/admin/billing#vat-ids"
            title="VAT IDs to check"
            about="Invoices wait for them, 14 days at most"
            end={<span data-now="vat-ids">{say(now.vatIds)}</span>}
          />
          <Row
            href="/admin/clients"
            title="Products behind with their events"
            about={
              now.behind.length === 0
                ? 'All have read what is older than 15 minutes.'
                : now.behind.map(({ title, events }) => `${title}: ${whole(events)} unread`).join(', ')
            }
            end={<span data-now="behind">{now.behind.length}</span>}
          />
          <Row
            href="/admin/people?state=frozen"
            title="Frozen accounts"
            end={<span data-now="frozen">{say(now.frozen)}</span>}
          />
          <Row
            href="/admin/people?state=waiting"
            title="Waiting for verification"
            end={<span data-now="waiting">{say(now.waiting)}</span>}
          />
          <Row
            href="/admin/billing"
            title="Open invoices"
            about={`${say(now.overdueInvoices)} overdue`}
            end={<span data-now="invoices">{say(now.openInvoices)}</span>}
          />
          <Row
            href="/admin/billing#countries"
            title="New countries that change the tax"
            about={`${say(now.overdueCountries)} overdue: waiting for over 14 days`}
            end={<span data-now="countries">{say(now.countries)}</span>}
          />
          <Row
            href="/admin/mails"
            title="Mails that failed or were given up"
            end={<span data-now="mails">{say(now.failedMails)}</span>}
          />
        </Rows>
      </Section>
      <Section
        id="happened"
        title="Over time"
        intro={`Logins and launches since ${both.format(since)} UTC, counted by UTC hours and days.`}
      >
        <LoginChart series={series} unit={unit} />
      </Section>
      <Section id="logins" title="Logins">
        <Counts head="Result" counts={toCounts(found.logins, loginWords)} nothing="Nobody tried to log in." />
      </Section>
      <Section
        id="launches"
        title="Launches"
        intro="Who was to go to a product, and what it led to. Handed over means that they arrived with their login."
      >
        <Counts
          head="Product and outcome"
          counts={found.launches.map(({ client, title, outcome, count }) => ({
            key: `${client} ${outcome}`,
            words: `${title}: ${launchWords[outcome] ?? outcome}`,
            count,
          }))}
          nothing="Nobody went to a product."
        />
      </Section>
      <Section id="hand-offs" title="Logins from the marketplace">
        <Counts head="Result" counts={toCounts(found.handOffs, handOffWords)} nothing="There were none." />
      </Section>
      <Section id="refusals" title="Refusals">
        <Counts
          head="Why, and whose request"
          counts={found.refusals.map(({ code, words, client, title, count }) => ({
            key: `${client} ${code}`,
            words: `${words} (${code})${title ? `, ${title}` : ''}`,
            count,
          }))}
          nothing="Nothing was refused."
        />
      </Section>
      <Section id="sign-ups" title="New accounts and contracts">
        <Counts
          head="What"
          counts={[
            ...(found.signUps > 0
              ? [{ key: 'sign-up', words: 'Somebody signed up', count: found.signUps }]
              : []),
            ...toCounts(found.signups, signupWords).map((each) => ({
              ...each,
              words: `Signup from the CRM: ${each.words.charAt(0).toLowerCase()}${each.words.slice(1)}`,
            })),
          ]}
          nothing="Nobody signed up, and the CRM sent nothing."
        />
      </Section>
      <Section id="mails" title="Mails">
        <Counts head="Try" counts={toCounts(found.mails, mailWords)} nothing="No mail was to be sent." />
      </Section>
    </StaffPage>
  );
}

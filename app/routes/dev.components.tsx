import type { LoaderFunctionArgs } from '@remix-run/node';
import { Badge } from '../components/badge.tsx';
import { Disclosure } from '../components/disclosure.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EmailField, Field } from '../components/field.tsx';
import { Icon, iconNames } from '../components/icon.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Skeleton } from '../components/skeleton.tsx';

export const meta = titled('Components');

/** Local mode: what pages are put together from, in every state. */
export async function loader({ context }: LoaderFunctionArgs) {
  context.demo.requireLocalMode();
  return null;
}

export default function Components() {
  return (
    <Page
      title="Components"
      intro="What pages are put together from: app/components, with the values of app/styles/tokens.css."
      wide
    >
      <Buttons />
      <Fields />
      <Section id="badges" title="Badges" intro="How something is. Never something to press.">
        <div className="actions">
          <Badge meaning="good">Verified</Badge>
          <Badge meaning="waiting">Waiting for verification</Badge>
          <Badge meaning="needs-you">Payment overdue</Badge>
          <Badge>Canceled</Badge>
        </div>
      </Section>
      <Section id="notices" title="Notices" intro="At the form that they are about.">
        <Notice kind="success">
          Saved. Products will show your changes soon, or the next time you log in to them.
        </Notice>
        <Notice kind="info">You have been logged out. Log in to continue where you left off.</Notice>
        <Notice kind="warning">
          You need to verify your email address. <a href="#notices">Verify it now</a>
        </Notice>
        <Notice kind="error">The email address or password is incorrect.</Notice>
      </Section>
      <ListRows />
      <Opening />
      <Section id="empty" title="Empty state">
        <EmptyState heading="h3" icon="invoice" title="No contracts or invoices yet">
          <p>When you order one of our products, you will see its contract and invoices here.</p>
        </EmptyState>
      </Section>
      <Section id="skeleton" title="Skeleton" intro="Stands for text that is on its way.">
        <Skeleton />
      </Section>
      <Section id="icons" title="Icons">
        <div className="actions">
          {iconNames.map((name) => (
            <span key={name}>
              <Icon name={name} /> {name}
            </span>
          ))}
        </div>
      </Section>
    </Page>
  );
}

const kinds = [
  ['', 'Primary'],
  ['secondary', 'Secondary'],
  ['quiet', 'Quiet'],
  ['danger', 'Danger'],
];

function Buttons() {
  return (
    <Section
      id="buttons"
      title="Buttons"
      intro="One primary button a card. Danger only for what cannot be undone."
    >
      {[false, true].map((isBusy) => (
        <div className="actions" key={String(isBusy)}>
          {kinds.map(([kind, words]) => (
            <button key={words} type="button" className={kind} aria-disabled={isBusy || undefined}>
              {words}
              {isBusy && ' …'}
            </button>
          ))}
        </div>
      ))}
    </Section>
  );
}

function Fields() {
  return (
    <Section id="fields" title="Fields">
      <Field label="Name" name="plain" defaultValue="Maya Merchant" />
      <Field label="Account name" name="hinted" hint="Your shop, company or household." />
      <EmailField
        label="Email address"
        name="refused"
        autoComplete="off"
        defaultValue="maya@"
        error="Enter an email address in the correct format, like name@example.com."
        focusOnError={false}
      />
      <Field label="Password" name="secret" type="password" defaultValue="a password" />
      <label className="choice">
        <input type="checkbox" name="choice" defaultChecked /> Something to choose
      </label>
    </Section>
  );
}

function ListRows() {
  return (
    <Section id="rows" title="List rows" intro="What it is, and how it is or what can be done.">
      <Rows>
        <Row icon="key" title="A row that is a link" about="The whole of it" href="#rows" />
        <Row
          icon="screen"
          title="Firefox on Linux"
          about="198.51.100.4"
          end={<Badge meaning="good">This browser</Badge>}
        />
        <Row
          title={'A-long-name-without-a-space'.repeat(8)}
          about="It stays in its box"
          end={
            <button type="button" className="quiet">
              Remove
            </button>
          }
        />
        <Row title={<bdi>{'اسم طويل جدا من اليمين إلى اليسار '.repeat(4)}</bdi>} about="From right to left" />
      </Rows>
    </Section>
  );
}

function Opening() {
  return (
    <Section
      id="opening"
      title="Dialog and menu"
      intro="Both open without script. The menu closes when it is left."
    >
      <Disclosure label="Remove the account">
        <p>It can no longer log you in.</p>
        <button type="button" className="danger">
          Remove
        </button>
      </Disclosure>
      <details className="menu aside">
        <summary>
          <span className="avatar" aria-hidden="true">
            M
          </span>
          Menu
          <Icon name="down" />
        </summary>
        <div className="menu-inside">
          <p>What it is about</p>
          <a href="#opening">
            <Icon name="user" />
            Your profile
          </a>
          <button type="button">
            <Icon name="exit" />
            Log out
          </button>
        </div>
      </details>
    </Section>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { Badge, type Meaning } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant } from '../components/instant.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Acts, askBefore, Outcome } from '../components/staff/acts.tsx';
import { Filters, isFiltered, Pages } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonLink, Select } from '../components/staff/words.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('Mails');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(
    args,
    ['state', 'kind'],
    // The procedure checks the filters.
    (procedures, asked) =>
      procedures.staffForms.mails(asked as Parameters<typeof procedures.staffForms.mails>[0]),
    async (procedures) => ({
      kinds: await procedures.staffForms.mailKinds(),
      outcome: await loadOutcome(args, 'mail'),
    }),
  );

export const action = (args: ActionFunctionArgs) => answerAct(args, 'mail');

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const states: [string, string][] = [
  ['', 'Failed or given up'],
  ['failed', 'Failed, tried again'],
  ['given_up', 'Given up'],
  ['waiting', 'Waiting, not failed'],
];

type Loaded = NonNullable<ReturnType<typeof useLoaderData<typeof loader>>['list']>;
type Mail = Loaded['mails'][number];

const path = '/admin/mails';

export default function Mails() {
  const { who, list, kinds, asked, isFirst, outcome } = useLoaderData<typeof loader>();
  const { mails, people, next } = list ?? { mails: [], people: [], next: null };
  const refused = useRefused();
  const forms = mails.flatMap((mail) => mail.forms);
  const asks = askBefore(refused, { forms });
  if (asks) return asks;
  const title = states.find(([state]) => state === asked.state)?.[1] ?? 'Mails';
  return (
    <StaffPage
      title="Mails"
      intro="Mails that have not left. Each is tried for three days, with growing pauses, then given up."
      who={who}
      current={path}
    >
      <Outcome forms={forms} outcome={outcome} />
      <Filters path={path} asked={asked}>
        <Select label="State" name="state" value={asked.state} options={states} />
        <Select
          label="Kind"
          name="kind"
          value={asked.kind}
          options={[['', 'Any'], ...kinds.map(({ kind, words }): [string, string] => [kind, words])]}
        />
      </Filters>
      <Section
        id="found"
        title={title}
        intro={asked.state === 'waiting' ? 'The next to be sent first.' : 'The newest first.'}
      >
        {mails.length === 0 ? (
          <EmptyState
            heading="h3"
            icon={list ? 'check' : 'mail'}
            title={list ? 'No mails' : 'Nothing was searched'}
          >
            <p>
              {!list
                ? 'There is no such filter or page. Choose another.'
                : isFiltered(asked) || !isFirst
                  ? 'Nothing is here. Try another filter.'
                  : 'Nothing failed, and nothing was given up.'}
            </p>
          </EmptyState>
        ) : (
          <Rows>
            {mails.map((mail) => (
              <Unsent key={mail.id} mail={mail} people={people} />
            ))}
          </Rows>
        )}
      </Section>
      <Pages {...{ path, asked, next, isFirst }} of="mails" words={['More', 'Back to the first']} />
    </StaffPage>
  );
}

const badges: Record<Mail['state'], [words: string, meaning: Meaning]> = {
  failed: ['Failed', 'needs-you'],
  given_up: ['Given up', 'needs-you'],
  waiting: ['Waiting', 'waiting'],
};

const sayTries = (attempts: number) =>
  attempts === 0 ? 'Not tried yet' : attempts === 1 ? 'Tried once' : `Tried ${attempts} times`;

function Unsent({ mail, people }: { mail: Mail; people: Loaded['people'] }) {
  const { id, what, recipient, userId, state, createdAt, attempts, nextTryAt, givenUpAt, error, forms } =
    mail;
  const [words, meaning] = badges[state];
  return (
    <Row
      icon="mail"
      title={
        <>
          <span data-mail={id}>{what}</span> <Badge meaning={meaning}>{words}</Badge>
        </>
      }
      about={
        <>
          To <Name>{recipient}</Name>
          {userId && (
            <>
              <br />
              <PersonLink known={people} id={userId} />
            </>
          )}
          <br />
          Written <Instant at={createdAt} />. {sayTries(attempts)}.
          {nextTryAt && (
            <>
              {' '}
              Next try <Instant at={nextTryAt} />.
            </>
          )}
          {mail.isHeld && ' It waits until billing is resumed after the restore.'}
          {givenUpAt && (
            <>
              {' '}
              Given up <Instant at={givenUpAt} />
              {error ? '.' : ' by an administrator or operator: the audit says why.'}
            </>
          )}
          {error && (
            <>
              <br />
              Why: <Name>{error}</Name>
            </>
          )}
          {mail.mustLeave && state !== 'given_up' && (
            <>
              <br />
              It guards an account, so it is never given up by hand.
            </>
          )}
        </>
      }
    >
      <Acts
        forms={forms}
        named={
          <>
            {what}, {recipient}
          </>
        }
      />
    </Row>
  );
}

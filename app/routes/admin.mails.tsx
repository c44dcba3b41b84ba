import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { Badge, type Meaning } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Field } from '../components/field.tsx';
import { Instant } from '../components/instant.tsx';
import { useRefused } from '../components/refused.ts';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Acts, askBefore, isOf, Outcome } from '../components/staff/acts.tsx';
import { Filters, isFiltered, MorePeople, Pages, pathOf } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonLink, Select, ShortName } from '../components/staff/words.tsx';
import { type Column, sayCount, Table, type TableRow } from '../components/table.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('Mails');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(
    args,
    ['q', 'state', 'kind', 'sort'],
    // The procedure checks these filters.
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
  const { who, list, kinds, asked, isFirst, outcome, fault, faultAt } = useLoaderData<typeof loader>();
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
        <Field
          label="Find"
          hint="What finds the person: the beginning of a word of their name, account or address."
          name="q"
          type="search"
          defaultValue={asked.q}
          error={faultAt === '/q' ? fault : undefined}
          autoComplete="off"
        />
        <Select label="State" name="state" value={asked.state} options={states} />
        <Select
          label="Kind"
          name="kind"
          value={asked.kind}
          options={[['', 'Any'], ...kinds.map(({ kind, words }): [string, string] => [kind, words])]}
        />
      </Filters>
      <Section id="found" title={title} intro={list && sayCount(list.count, 'mail', 'mails')}>
        {list?.more && <MorePeople of="mails" />}
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
          <Table
            name="mails"
            caption={title}
            columns={columnsOf(asked.state)}
            rows={mails.map((mail) => ({
              ...toRow(mail, asked.state === 'waiting'),
              details: {
                of: named(mail),
                inside: <Details mail={mail} people={people} />,
                isOpen: mail.forms.some((form) => isOf(refused, form)),
              },
            }))}
            sort={asked.sort || (asked.state === 'waiting' ? 'next' : '-written')}
            sortPath={(sort) => pathOf(path, { ...asked, sort })}
          />
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

const columnsOf = (state: string): Column[] => [
  { label: 'Mail' },
  { label: 'To' },
  ...(state === 'waiting'
    ? [{ label: 'Written' }, { label: 'Next try', sort: 'next' }]
    : [{ label: 'Why' }, { label: 'Written', sort: 'written' }]),
  { label: 'State', kind: 'state' },
];

const toRow = (mail: Mail, isWaiting: boolean): TableRow => {
  const { id, what, recipient, createdAt, nextTryAt, error } = mail;
  const [words, meaning] = badges[mail.state];
  const written = <Instant key="written" at={createdAt} />;
  return {
    key: id,
    cells: [
      <span key="what" className="two-lines">
        <span data-mail={id}>{what}</span>
      </span>,
      <ShortName key="to">{recipient}</ShortName>,
      ...(isWaiting
        ? [written, nextTryAt && <Instant key="next" at={nextTryAt} />]
        : [error && <ShortName key="why">{error}</ShortName>, written]),
      <Badge key="state" meaning={meaning}>
        {words}
      </Badge>,
    ],
  };
};

const named = ({ what, recipient }: Mail) => (
  <>
    {what}, {recipient}
  </>
);

function Details({ mail, people }: { mail: Mail; people: Loaded['people'] }) {
  const { userId, createdAt, attempts, nextTryAt, givenUpAt, error } = mail;
  return (
    <>
      <dl className="facts">
        <dt>To</dt>
        <dd>
          <Name>{mail.recipient}</Name>
        </dd>
        {userId && (
          <>
            <dt>Person</dt>
            <dd>
              <PersonLink known={people} id={userId} />
            </dd>
          </>
        )}
        <dt>Written</dt>
        <dd>
          <Instant at={createdAt} />. {sayTries(attempts)}.
          {mail.isHeld && ' It waits until billing is resumed after the restore.'}
        </dd>
        {nextTryAt && (
          <>
            <dt>Next try</dt>
            <dd>
              <Instant at={nextTryAt} />
            </dd>
          </>
        )}
        {givenUpAt && (
          <>
            <dt>Given up</dt>
            <dd>
              <Instant at={givenUpAt} />
              {!error && ' by an administrator or operator: the audit says why.'}
            </dd>
          </>
        )}
        {error && (
          <>
            <dt>Why</dt>
            <dd>
              <Name>{error}</Name>
            </dd>
          </>
        )}
      </dl>
      {mail.mustLeave && mail.state !== 'given_up' && (
        <p>It guards an account, so it is never given up by hand.</p>
      )}
      <Acts forms={mail.forms} named={named(mail)} />
    </>
  );
}

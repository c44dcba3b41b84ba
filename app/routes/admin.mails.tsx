import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct } from '../act-forms.ts';
import { Badge, type Meaning } from '../components/badge.tsx';
import { Confirm } from '../components/confirm.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { ActForm, Refusal } from '../components/staff/act-form.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonLink, Select } from '../components/staff/words.tsx';
import type { Refused } from '../refused.ts';
import { loadForStaff } from '../staff.ts';

/** The forms are the browser's own: no script keeps what is shown of people. */
export const handle = { isStatic: true };

export const meta = titled('Mails');

export async function loader(args: LoaderFunctionArgs) {
  const { transport, visit } = args.context;
  const query = transport.readQuery(args.request);
  const [state, kind, before] = (['state', 'kind', 'before'] as const).map((name) => query.get(name) ?? '');
  const loaded = await loadForStaff(args, async (procedures) => {
    const kinds = await procedures.staffForms.mailKinds();
    const filters = { ...(state && { state }), ...(kind && { kind }), ...(before && { before }) };
    try {
      // Whatever the address says, the procedure reads it.
      const asked = filters as Parameters<typeof procedures.admin.mails.list>[0];
      return { ...(await procedures.admin.mails.list(asked)), kinds, isFault: false };
    } catch (error) {
      if (transport.readRefusal(error, visit).code !== 'validation_failed') throw error;
      return { mails: [], people: [], next: null, kinds, isFault: true };
    }
  });
  const asked = { state: state ?? '', kind: kind ?? '' };
  return data(
    { ...loaded, asked, isFirst: before === '', saved: query.get('saved') },
    { status: loaded.isFault ? 422 : 200 },
  );
}

export const action = (args: ActionFunctionArgs) => answerAct(args, 'mail');

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** What the page that asks for a credential says one goes on to. */
const buttons = new Map([
  ['retry', 'Send the mail again'],
  ['give-up', 'Give up the mail'],
]);

const outcomes = new Map([
  ['retry', 'The mail is sent again now. If it was just being tried, it is tried again within two minutes.'],
  ['give-up', 'The mail is given up. If it was just being sent, it may still arrive.'],
]);

const states: [string, string][] = [
  ['', 'Failed or given up'],
  ['failed', 'Failed, tried again'],
  ['given_up', 'Given up'],
  ['waiting', 'Waiting, not failed'],
];

type Asked = { state: string; kind: string };
type Loaded = ReturnType<typeof useLoaderData<typeof loader>>;
type Mail = Loaded['mails'][number];

/** This page with these filters. */
function pathOf(asked: Asked, before?: string): string {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''));
  if (before) query.set('before', before);
  return query.size > 0 ? `/admin/mails?${query}` : '/admin/mails';
}

export default function Mails() {
  const { who, mails, people, next, kinds, asked, isFault, isFirst, saved } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) {
    const { intent = '' } = refused.values;
    return <Confirm refused={refused} asks={refused.asks} to={buttons.get(intent)} />;
  }
  const outcome = outcomes.get(saved ?? '');
  const isSaidAtForm = mails.some((mail) => isOf(refused, mail));
  const isFiltered = asked.state !== '' || asked.kind !== '';
  const title = states.find(([state]) => state === asked.state)?.[1] ?? 'Mails';
  return (
    <StaffPage
      title="Mails"
      intro="Mails that have not left. Each is tried for three days, with growing pauses, then given up."
      who={who}
      current="/admin/mails"
    >
      {!refused && outcome && (
        <Notice kind="success" focus>
          {outcome}
        </Notice>
      )}
      {refused && !isSaidAtForm && <Refusal refused={refused} />}
      <search>
        <form method="get" action="/admin/mails" className="card filters">
          <Select label="State" name="state" value={asked.state} options={states} />
          <Select
            label="Kind"
            name="kind"
            value={asked.kind}
            options={[['', 'Any'], ...kinds.map(({ kind, words }): [string, string] => [kind, words])]}
          />
          <div className="filter-buttons">
            <button type="submit">Show</button>
            {isFiltered && <a href="/admin/mails">Clear</a>}
          </div>
        </form>
      </search>
      <Section
        id="found"
        title={title}
        intro={asked.state === 'waiting' ? 'The next to be sent first.' : 'The newest first.'}
      >
        {mails.length === 0 ? (
          <EmptyState
            heading="h3"
            icon={isFault ? 'mail' : 'check'}
            title={isFault ? 'Nothing was searched' : 'No mails'}
          >
            <p>
              {isFault
                ? 'There is no such filter or page. Choose another.'
                : isFiltered || !isFirst
                  ? 'Nothing is here. Try another filter.'
                  : 'Nothing failed, and nothing was given up.'}
            </p>
          </EmptyState>
        ) : (
          <Rows>
            {mails.map((mail) => (
              <Unsent key={mail.id} mail={mail} people={people} refused={refused} />
            ))}
          </Rows>
        )}
      </Section>
      {(next || !isFirst) && (
        <nav className="actions" aria-label="Pages of mails">
          {next && (
            <a className="button secondary" href={pathOf(asked, next)}>
              More
            </a>
          )}
          {!isFirst && <a href={pathOf(asked)}>Back to the first</a>}
        </nav>
      )}
    </StaffPage>
  );
}

const isOf = (refused: Refused | undefined, { id, mayRetry, mayGiveUp }: Mail) => {
  const offered = new Map([
    ['retry', mayRetry],
    ['give-up', mayGiveUp],
  ]);
  return refused?.values.id === id && offered.get(refused.values.intent ?? '') === true;
};

const badges: Record<Mail['state'], [words: string, meaning: Meaning]> = {
  failed: ['Failed', 'needs-you'],
  given_up: ['Given up', 'needs-you'],
  waiting: ['Waiting', 'waiting'],
};

const sayTries = (attempts: number) =>
  attempts === 0 ? 'Not tried yet' : attempts === 1 ? 'Tried once' : `Tried ${attempts} times`;

function Unsent({
  mail,
  people,
  refused: any,
}: {
  mail: Mail;
  people: Loaded['people'];
  refused: Refused | undefined;
}) {
  const { id, what, recipient, userId, state, createdAt, attempts, nextTryAt, givenUpAt, error, seen } = mail;
  const refusedOf = (intent: string) => (isOf(any, mail) && any?.values.intent === intent ? any : undefined);
  const [words, meaning] = badges[state];
  const about = { id, seen };
  const named = (
    <span className="visually-hidden">
      : {what}, {recipient}
    </span>
  );
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
      {(mail.mayRetry || mail.mayGiveUp) && (
        <div className="acts">
          {mail.mayRetry && (
            <ActForm
              intent="retry"
              label={<>Send again{named}</>}
              button="Send again"
              about={about}
              refused={refusedOf('retry')}
              notice="It is tried now, and for three more days. The person gets it as if it were new."
            />
          )}
          {mail.mayGiveUp && (
            <ActForm
              intent="give-up"
              label={<>Give up{named}</>}
              button="Give up the mail"
              danger
              about={about}
              refused={refusedOf('give-up')}
              notice="It is not tried any more. The person does not get it, and reads in their activity that we stopped trying."
            />
          )}
        </div>
      )}
    </Row>
  );
}

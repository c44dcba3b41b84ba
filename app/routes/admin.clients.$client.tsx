import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome, type Told } from '../act-forms.ts';
import { Badge } from '../components/badge.tsx';
import { Fact } from '../components/fact.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Section } from '../components/section.tsx';
import { buildTitle } from '../components/service-name.ts';
import { Acts, askBefore, Outcome } from '../components/staff/acts.tsx';
import { ClientGuide, ClientSecret } from '../components/staff/client-guide.tsx';
import { stateWords } from '../components/staff/client-words.ts';
import { OpenIdFacts, OpenIdGuide, OpenIdSecret, UntakenLogOuts } from '../components/staff/openid-guide.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name } from '../components/staff/words.tsx';
import { sayCount } from '../components/table.tsx';
import { loadOpenIdGuides } from '../developers/load-guides.server.ts';
import { loadForStaff } from '../staff.ts';

export const meta: MetaFunction<typeof loader> = ({ data, params, matches }) => [
  { title: buildTitle(data?.client.title ?? `Client ${params.client}`, matches) },
];

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({
    client: await procedures.staffForms.client({ client: args.params.client ?? '' }),
    outcome: await loadOutcome(args, 'client'),
    baseUrl: args.context.site.baseUrl,
    guides: await loadOpenIdGuides(),
  }));

export const action = (args: ActionFunctionArgs) =>
  answerAct(args, 'client', () => ({ client: args.params.client ?? '' }));

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

type Loaded = ReturnType<typeof useLoaderData<typeof loader>>['client'];

export default function ClientPage() {
  const { who, client, outcome, baseUrl, guides } = useLoaderData<typeof loader>();
  const told = useActionData<{ told?: Told }>()?.told;
  const refused = useRefused();
  const { name, title, isDemo, row, forms, isFailing, behind, untaken } = client;
  const openId = openIdRowOf(client);
  const asks = askBefore(refused, { forms, about: title, warns: true });
  if (asks) return asks;
  const guide = { client, baseUrl, secret: told?.secret };
  return (
    <StaffPage
      title={title}
      intro={
        <>
          <code data-client={name}>{name}</code>
          {isDemo && ', a demo client of this service'}{' '}
          {row && row.state !== 'on' && <Badge meaning="needs-you">{stateWords[row.state]}</Badge>}{' '}
          {isFailing && <Badge meaning="needs-you">Webhook fails</Badge>}{' '}
          {behind > 0 && <Badge meaning="waiting">{sayCount(behind, 'event', 'events')} unread</Badge>}
        </>
      }
      who={who}
      current="/admin/clients"
    >
      <Outcome forms={forms} outcome={outcome} />
      {told?.secret !== undefined &&
        (openId ? (
          <OpenIdSecret row={openId} secret={told.secret} title="The client has a second secret." />
        ) : (
          <ClientSecret {...guide} title="The client has a second secret." />
        ))}
      {told?.taken !== undefined && <WebhookTried {...told} />}
      {untaken.length > 0 && <UntakenLogOuts untaken={untaken} />}
      {!isDemo && (
        <Section id="connect" title="Connect it">
          {openId ? <OpenIdGuide {...guide} guides={guides} row={openId} /> : <ClientGuide {...guide} />}
        </Section>
      )}
      <Try client={client} />
      {forms.length > 0 && (
        <Section id="acts" title="Change something" bare>
          <Acts forms={forms} />
        </Section>
      )}
      <About client={client} />
      {row && <Secrets row={row} />}
    </StaffPage>
  );
}

const WebhookTried = ({ taken, reason }: Told) => (
  <Notice kind={taken ? 'success' : 'warning'} focus>
    {taken ? 'The client took the webhook.' : `The client did not take the webhook: ${reason}.`}
  </Notice>
);

const checkWords = {
  launch: 'We handed somebody to it',
  call: 'It called us with its token',
  pull: 'It read events',
  webhook: 'It took a webhook',
  logOut: 'It accepted a log-out',
} as const;

const openIdWords = {
  ...checkWords,
  launch: 'We sent somebody to it with a code',
  call: 'It called us with its secret',
} as const;

const checkNames = ['launch', 'call', 'pull', 'webhook', 'logOut'] as const;

/** Returns undefined for a client that uses hand-offs, and for a client that the settings name, because its row is not used. */
const openIdRowOf = ({ row }: Loaded) =>
  row?.kind === 'openid' && row.state !== 'in_settings' ? row : undefined;

/** app/enhance.js reloads this list every few seconds, so that it shows what the login in the other tab has done. */
function Try({ client }: { client: Loaded }) {
  const { name, loginUrl, isDemo, row, checks } = client;
  const openId = openIdRowOf(client);
  const path = loginUrl && !isDemo ? loginUrl : openId ? null : `/sso/launch/${name}`;
  const words = openId ? openIdWords : checkWords;
  const isOn = !row || row.state === 'on' || row.state === 'in_settings';
  return (
    <Section
      id="try"
      title="Try it"
      intro="Log in, and check that the client shows your name. Each line turns green within ten seconds once it has worked. Without script, load the page again."
    >
      <ul className="rows" data-live>
        {checkNames.map((what) => {
          const check = checks[what];
          return (
            check && (
              <li key={what} data-check={what}>
                <span>
                  {words[what]}
                  {check.at && (
                    <>
                      , <Instant at={check.at} />
                      {check.isFresh && ', within the last minute'}
                    </>
                  )}
                </span>
                <Badge meaning={check.isFailing ? 'needs-you' : check.at ? 'good' : 'waiting'}>
                  {check.isFailing ? 'Fails' : check.at ? 'Works' : 'Not yet'}
                </Badge>
              </li>
            )
          );
        })}
      </ul>
      {isOn && path && (
        <p className="actions">
          <a className="button" href={path} target="_blank" rel="noreferrer">
            Open its login in a new tab
          </a>
        </p>
      )}
      <p className="hint">
        If the client refuses the login, its page and its log show a code:{' '}
        {openId ? (
          <a href="/developers/openid#if-it-fails">see what to do</a>
        ) : (
          <a href="/developers/refusals">see refusals</a>
        )}
        .
      </p>
    </Section>
  );
}

function Secrets({ row: { secrets } }: { row: NonNullable<Loaded['row']> }) {
  return (
    <Section id="secrets" title="Secrets" intro="The last use of each secret is accurate to a minute.">
      <dl className="facts">
        {secrets.map(({ madeAt, lastUsedAt }, at) => (
          <Fact key={madeAt.toString()} name={at === 0 ? 'First secret' : 'Second secret'}>
            Made <Instant at={madeAt} />.{' '}
            {lastUsedAt ? (
              <>
                Last used <Instant at={lastUsedAt} />
              </>
            ) : (
              'Not used yet.'
            )}
          </Fact>
        ))}
      </dl>
    </Section>
  );
}

const kindWords: Record<string, string> = {
  token: 'To read events and people',
  hand_off: 'To hand people over to us',
  signup: 'To report signups',
};

const roleWords = { admin: 'administrators', merchant: 'merchants', customer: 'customers' };

function About({ client }: { client: Loaded }) {
  const { callbackUrl, loginUrl, eventsUrl, needsFactor, roles, calls, refusals, doctor } = client;
  const { behind, oldestAt, failedAt, failure } = client;
  const isBehind = behind > 0;
  const openId = openIdRowOf(client);
  return (
    <Section id="facts" title="What is set">
      <dl className="facts">
        {openId ? (
          <OpenIdFacts row={openId} />
        ) : (
          <>
            <Fact name="Callback URL">
              <Name>{callbackUrl}</Name>
            </Fact>
            <Fact name="Webhook URL">{eventsUrl === null ? 'Not set' : <Name>{eventsUrl}</Name>}</Fact>
          </>
        )}
        <Fact name="Login URL">{loginUrl === null ? 'Not set' : <Name>{loginUrl}</Name>}</Fact>
        <Fact name="Who may enter">{roles.map((role) => roleWords[role]).join(', ')}</Fact>
        <Fact name="Second factor">{needsFactor ? 'Required' : 'Optional'}</Fact>
        {!openId && (
          <>
            {calls.map(({ kind, secrets, last }) => (
              <Fact key={kind} name={kindWords[kind] ?? kind}>
                {sayCount(secrets, 'secret', 'secrets')}.{' '}
                {last ? (
                  <>
                    Last used: the {last.secret}, <Instant at={last.at} />
                  </>
                ) : (
                  'None used yet.'
                )}
              </Fact>
            ))}
            <Fact name="Unread events">
              {isBehind ? (
                <>
                  {behind}
                  {oldestAt && (
                    <>
                      , the oldest from <Instant at={oldestAt} />
                    </>
                  )}
                </>
              ) : (
                'None'
              )}
            </Fact>
            <Fact name="Webhook last failed">
              {failedAt ? (
                <>
                  <Name>{failure ?? 'For no known reason'}</Name>, <Instant at={failedAt} />
                </>
              ) : (
                'Never'
              )}
            </Fact>
          </>
        )}
        <Fact name="Refused by us in the last day">
          {refusals.length === 0
            ? 'Nothing'
            : refusals.map(({ code, count }, at) => (
                <span key={code}>
                  {at > 0 && ', '}
                  {count} × <a href={`/problems/${code}`}>{code}</a>
                </span>
              ))}
        </Fact>
        {doctor && (
          <Fact name="Examine it, on the server">
            <code>{doctor}</code>
          </Fact>
        )}
      </dl>
    </Section>
  );
}

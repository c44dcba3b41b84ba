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
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name } from '../components/staff/words.tsx';
import { sayCount } from '../components/table.tsx';
import { loadForStaff } from '../staff.ts';

export const meta: MetaFunction<typeof loader> = ({ data, params, matches }) => [
  { title: buildTitle(data?.client.title ?? `Client ${params.client}`, matches) },
];

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({
    client: await procedures.staffForms.client({ client: args.params.client ?? '' }),
    outcome: await loadOutcome(args, 'client'),
    baseUrl: args.context.site.baseUrl,
  }));

export const action = (args: ActionFunctionArgs) =>
  answerAct(args, 'client', () => ({ client: args.params.client ?? '' }));

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

type Check = { at: Date | null; isFresh: boolean };

type Loaded = ReturnType<typeof useLoaderData<typeof loader>>['client'];

export default function ClientPage() {
  const { who, client, outcome, baseUrl } = useLoaderData<typeof loader>();
  const told = useActionData<{ told?: Told }>()?.told;
  const refused = useRefused();
  const { name, title, isDemo, row, forms, isFailing, behind } = client;
  const asks = askBefore(refused, { forms, about: title, warns: true });
  if (asks) return asks;
  const guide = { client, baseUrl, secret: told?.secret };
  const isOpenId = row?.kind === 'openid';
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
      {told?.secret !== undefined && (
        <ClientSecret {...guide} title="The client has a second secret." isOpenId={isOpenId} />
      )}
      {told?.taken !== undefined && <WebhookTried {...told} />}
      {!isDemo && !isOpenId && (
        <Section id="connect" title="Connect it">
          <ClientGuide {...guide} />
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
  logOut: 'It took a log-out',
} as const;

const openIdWords = {
  ...checkWords,
  launch: 'We sent somebody to it with a code',
  call: 'It called us with its secret',
} as const;

const checkNames = ['launch', 'call', 'pull', 'webhook', 'logOut'] as const;

/** The list reloads every few seconds (app/enhance.js), so that it shows what the login in the other tab has done. */
function Try({ client: { name, loginUrl, isDemo, row, openid, checks } }: { client: Loaded }) {
  const ownLaunch = openid ? undefined : `/sso/launch/${name}`;
  const path = loginUrl && !isDemo ? loginUrl : ownLaunch;
  const isOn = !row || row.state === 'on' || row.state === 'in_settings';
  const words = openid ? openIdWords : checkWords;
  return (
    <Section
      id="try"
      title="Try it"
      intro="Log in, and look whether the client shows your name. Each line turns green within ten seconds once it has worked. Without script, load the page again."
    >
      <ul className="rows" data-live>
        {checkNames.map((what) => {
          const check: Check | undefined = what in checks ? checks[what as keyof typeof checks] : undefined;
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
                <Badge meaning={check.at ? 'good' : 'waiting'}>{check.at ? 'Works' : 'Not yet'}</Badge>
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
      {openid ? (
        !path && <p className="hint">Set a login URL, or open the login at the product.</p>
      ) : (
        <p className="hint">
          If the client refuses the login, its page and its log show a code:{' '}
          <a href="/developers/refusals">see refusals</a>.
        </p>
      )}
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
  const { behind, oldestAt, failedAt, failure, openid } = client;
  const isBehind = behind > 0;
  return (
    <Section id="facts" title="What is set">
      <dl className="facts">
        {openid ? (
          <OpenIdFacts openid={openid} />
        ) : (
          <Fact name="Callback URL">
            <Name>{callbackUrl}</Name>
          </Fact>
        )}
        <Fact name="Login URL">{loginUrl === null ? 'Not set' : <Name>{loginUrl}</Name>}</Fact>
        {!openid && (
          <Fact name="Webhook URL">{eventsUrl === null ? 'Not set' : <Name>{eventsUrl}</Name>}</Fact>
        )}
        <Fact name="Who may enter">{roles.map((role) => roleWords[role]).join(', ')}</Fact>
        <Fact name="Second factor">{needsFactor ? 'Required' : 'Optional'}</Fact>
        {calls.map(({ kind, secrets, last }) => (
          <Fact key={kind} name={openid ? 'To exchange codes' : (kindWords[kind] ?? kind)}>
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
        {!openid && (
          <>
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

const pkceWords = { required: 'Required', optional: 'Optional', 'state-only': 'State only' };

function OpenIdFacts({ openid }: { openid: NonNullable<Loaded['openid']> }) {
  const { redirectUris, postLogoutUris, backChannelUri, pkce, auth } = openid;
  const list = (addresses: readonly string[]) =>
    addresses.map((each) => (
      <div key={each}>
        <Name>{each}</Name>
      </div>
    ));
  return (
    <>
      <Fact name="Redirect URIs">{list(redirectUris)}</Fact>
      <Fact name="Addresses after a log-out">
        {postLogoutUris.length > 0 ? list(postLogoutUris) : 'None'}
      </Fact>
      <Fact name="Back-channel logout URI">
        {backChannelUri === null ? 'Not set' : <Name>{backChannelUri}</Name>}
      </Fact>
      <Fact name="PKCE">{pkceWords[pkce]}</Fact>
      <Fact name="Shows who it is">{auth === 'none' ? 'Not at all' : 'By its secret'}</Fact>
    </>
  );
}

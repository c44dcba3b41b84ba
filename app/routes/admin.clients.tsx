import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import { Badge } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant } from '../components/instant.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

/** No script keeps what is shown to staff. */
export const handle = { isStatic: true };

export const meta = titled('Clients');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({ clients: await procedures.admin.clients.list() }));

type Client = ReturnType<typeof useLoaderData<typeof loader>>['clients'][number];

export default function Clients() {
  const { who, clients } = useLoaderData<typeof loader>();
  return (
    <StaffPage
      title="Clients"
      intro="The products that people open from here. What was counted is up to ten seconds old."
      who={who}
      current="/admin/clients"
    >
      {clients.length === 0 ? (
        <div className="card">
          <EmptyState icon="grid" title="There are no clients">
            <p>An operator names them in the settings.</p>
          </EmptyState>
        </div>
      ) : (
        clients.map((client) => <About key={client.name} client={client} />)
      )}
    </StaffPage>
  );
}

const kindWords: Record<string, string> = {
  token: 'Reading events and profiles',
  hand_off: 'Hand-offs to here',
  signup: 'Signups',
};

const sayCount = (count: number, one: string) => `${count} ${count === 1 ? one : `${one}s`}`;

function About({ client }: { client: Client }) {
  const { name, title, isDemo, callbackUrl, loginUrl, eventsUrl, calls, launchedAt, refusals, doctor } =
    client;
  const { pulledAt, behind, oldestAt, failedAt, failure, isFailing } = client;
  const isBehind = behind > 0;
  return (
    <Section
      id={`client-${name}`}
      title={title}
      intro={
        <>
          <code data-client={name}>{name}</code>
          {isDemo && ', a demo client of this service'}{' '}
          {isFailing && <Badge meaning="needs-you">Nudges fail</Badge>}{' '}
          {isBehind && <Badge meaning="waiting">{sayCount(behind, 'event')} behind</Badge>}
        </>
      }
    >
      <dl className="facts">
        <Fact term="Callback">
          <Name>{callbackUrl}</Name>
        </Fact>
        <Fact term="Login">{loginUrl === null ? 'Not set' : <Name>{loginUrl}</Name>}</Fact>
        <Fact term="Nudges go to">{eventsUrl === null ? 'Nowhere' : <Name>{eventsUrl}</Name>}</Fact>
        <Fact term="Last launch">{launchedAt ? <Instant at={launchedAt} /> : 'None counted'}</Fact>
        {calls.map(({ kind, secrets, last }) => (
          <Fact key={kind} term={kindWords[kind] ?? kind}>
            {sayCount(secrets, 'secret')}.{' '}
            {last ? (
              <>
                Last used: the {last.secret}, <Instant at={last.at} />
              </>
            ) : (
              'None used yet.'
            )}
          </Fact>
        ))}
        <Fact term="Last pull">{pulledAt ? <Instant at={pulledAt} /> : 'None'}</Fact>
        <Fact term="Behind">
          {isBehind ? (
            <>
              {sayCount(behind, 'event')}
              {oldestAt && (
                <>
                  , the oldest from <Instant at={oldestAt} />
                </>
              )}
            </>
          ) : (
            'Nothing more to read'
          )}
        </Fact>
        <Fact term="Last failed nudge">
          {failedAt ? (
            <>
              <Name>{failure ?? 'For no known reason'}</Name>, <Instant at={failedAt} />
            </>
          ) : (
            'None'
          )}
        </Fact>
        <Fact term="Refused, last day">
          {refusals.length === 0
            ? 'Nothing'
            : refusals.map(({ code, count }, at) => (
                <span key={code}>
                  {at > 0 && ', '}
                  {count} × <a href={`/problems/${code}`}>{code}</a>
                </span>
              ))}
        </Fact>
        <Fact term="Check it">
          <code>{doctor}</code>
        </Fact>
      </dl>
    </Section>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

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
import { type Column, sayCount, Table, type TableRow } from '../components/table.tsx';
import { whole } from '../components/whole.ts';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Clients');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({ clients: await procedures.admin.clients.list() }));

type Client = ReturnType<typeof useLoaderData<typeof loader>>['clients'][number];

export default function Clients() {
  const { who, clients } = useLoaderData<typeof loader>();
  return (
    <StaffPage
      title="Clients"
      intro="The products that people open from here. A webhook tells each of new events, which it then reads. What was counted is up to ten seconds old."
      who={who}
      current="/admin/clients"
    >
      {clients.length === 0 ? (
        <div className="card">
          <EmptyState icon="grid" title="There are no clients">
            <p>An operator names them in the settings, or adds them by a command.</p>
          </EmptyState>
        </div>
      ) : (
        <>
          {clients.length > 1 && (
            <Section id="all" title={sayCount(clients.length, 'client', 'clients')}>
              <Table name="clients" caption="All clients" columns={columns} rows={clients.map(toRow)} />
            </Section>
          )}
          {clients.map((client) => (
            <About key={client.name} client={client} />
          ))}
        </>
      )}
    </StaffPage>
  );
}

const kindWords: Record<string, string> = {
  token: 'To read events and people',
  hand_off: 'To hand people over to us',
  signup: 'To report signups',
};

const roleWords = { admin: 'administrators', merchant: 'merchants', customer: 'customers' };

const columns: Column[] = [
  { label: 'Client' },
  { label: 'Last launch' },
  { label: 'Last read events' },
  { label: 'Unread', kind: 'amount' },
  { label: 'State', kind: 'state' },
];

const stateWords: Record<NonNullable<Client['row']>['state'], string> = {
  in_settings: 'Also in the database, where it is off',
  off: 'Off',
  unconfirmed: 'Waits to be confirmed',
  unreadable: 'Refused: no key opens its secrets',
  on: 'In the database',
};

function ClientState({
  row,
  isFailing,
  isBehind,
}: Pick<Client, 'row' | 'isFailing'> & { isBehind: boolean }) {
  if (row && row.state !== 'on' && row.state !== 'in_settings')
    return <Badge meaning="needs-you">{stateWords[row.state]}</Badge>;
  if (isFailing) return <Badge meaning="needs-you">Webhook fails</Badge>;
  return isBehind ? <Badge meaning="waiting">Behind</Badge> : <Badge meaning="good">Up to date</Badge>;
}

const toRow = ({ name, title, row, launchedAt, pulledAt, behind, isFailing }: Client): TableRow => ({
  key: name,
  cells: [
    <a key="client" href={`#client-${name}`}>
      {title}
    </a>,
    launchedAt && <Instant key="launch" at={launchedAt} />,
    pulledAt && <Instant key="pull" at={pulledAt} />,
    whole(behind),
    <ClientState key="state" row={row} isFailing={isFailing} isBehind={behind > 0} />,
  ],
});

function About({ client }: { client: Client }) {
  const { name, title, isDemo, callbackUrl, loginUrl, eventsUrl, needsFactor, roles, calls, launchedAt } =
    client;
  const { refusals, doctor } = client;
  const { row, pulledAt, behind, oldestAt, failedAt, failure, isFailing } = client;
  const isBehind = behind > 0;
  return (
    <Section
      id={`client-${name}`}
      title={title}
      intro={
        <>
          <code data-client={name}>{name}</code>
          {isDemo && ', a demo client of this service'}{' '}
          {row && (
            <Badge meaning={row.state === 'on' ? 'neutral' : 'needs-you'}>{stateWords[row.state]}</Badge>
          )}{' '}
          {isFailing && <Badge meaning="needs-you">Webhook fails</Badge>}{' '}
          {isBehind && <Badge meaning="waiting">{sayCount(behind, 'event', 'events')} unread</Badge>}
        </>
      }
    >
      <dl className="facts">
        <Fact term="Callback URL">
          <Name>{callbackUrl}</Name>
        </Fact>
        <Fact term="Login URL">{loginUrl === null ? 'Not set' : <Name>{loginUrl}</Name>}</Fact>
        <Fact term="Webhook URL">{eventsUrl === null ? 'Not set' : <Name>{eventsUrl}</Name>}</Fact>
        <Fact term="Who may enter">{roles.map((role) => roleWords[role]).join(', ')}</Fact>
        <Fact term="Second factor">{needsFactor ? 'Required' : 'Optional'}</Fact>
        <Fact term="Last launch">{launchedAt ? <Instant at={launchedAt} /> : 'None counted'}</Fact>
        {calls.map(({ kind, secrets, last }) => (
          <Fact key={kind} term={kindWords[kind] ?? kind}>
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
        <Fact term="Last read events">{pulledAt ? <Instant at={pulledAt} /> : 'Never'}</Fact>
        <Fact term="Unread events">
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
        <Fact term="Webhook last failed">
          {failedAt ? (
            <>
              <Name>{failure ?? 'For no known reason'}</Name>, <Instant at={failedAt} />
            </>
          ) : (
            'Never'
          )}
        </Fact>
        <Fact term="Refused within a day">
          {refusals.length === 0
            ? 'Nothing'
            : refusals.map(({ code, count }, at) => (
                <span key={code}>
                  {at > 0 && ', '}
                  {count} × <a href={`/problems/${code}`}>{code}</a>
                </span>
              ))}
        </Fact>
        <Fact term="Check it with">
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

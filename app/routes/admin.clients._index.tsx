import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { answerAct, type Told } from '../act-forms.ts';
import { Badge } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant } from '../components/instant.tsx';
import { useRefused } from '../components/refused.ts';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Acts, askBefore, Outcome } from '../components/staff/acts.tsx';
import { ClientGuide, ClientSecret } from '../components/staff/client-guide.tsx';
import { clientPath, stateWords } from '../components/staff/client-words.ts';
import { OpenIdGuide, OpenIdSecret } from '../components/staff/openid-guide.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { type Column, sayCount, Table, type TableRow } from '../components/table.tsx';
import { whole } from '../components/whole.ts';
import { loadOpenIdGuides } from '../developers/load-guides.server.ts';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Clients');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => ({
    ...(await procedures.staffForms.clients()),
    baseUrl: args.context.site.baseUrl,
    guides: await loadOpenIdGuides(),
  }));

export const action = (args: ActionFunctionArgs) => answerAct(args, 'client');

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

type Client = ReturnType<typeof useLoaderData<typeof loader>>['clients'][number];

export default function Clients() {
  const { who, clients, forms, baseUrl, guides } = useLoaderData<typeof loader>();
  const told = useActionData<{ told?: Told }>()?.told;
  const refused = useRefused();
  const asks = askBefore(refused, { forms });
  if (asks) return asks;
  const added = clients.find(({ name }) => name === told?.client);
  if (told?.secret !== undefined && added) {
    const guide = { client: added, baseUrl, secret: told.secret };
    const openId = added.row?.kind === 'openid' ? added.row : undefined;
    return (
      <StaffPage title={added.title} who={who} current="/admin/clients">
        {openId ? (
          <OpenIdSecret row={openId} secret={told.secret} title="The client is added." />
        ) : (
          <ClientSecret {...guide} title="The client is added." />
        )}
        <Section id="connect" title="Connect it">
          {openId ? <OpenIdGuide {...guide} guides={guides} row={openId} /> : <ClientGuide {...guide} />}
        </Section>
        <p className="actions">
          <a className="button" href={clientPath(added.name)}>
            Go on to its page
          </a>
        </p>
      </StaffPage>
    );
  }
  return (
    <StaffPage
      title="Clients"
      intro="The products that people open from here. A webhook tells a client about new events, and the client then reads them. Counts are up to ten seconds old."
      who={who}
      current="/admin/clients"
    >
      <Outcome forms={forms} outcome={null} />
      <Section id="all" title={sayCount(clients.length, 'client', 'clients')}>
        {clients.length === 0 ? (
          <EmptyState heading="h3" icon="grid" title="There are no clients">
            <p>Add the first one below, or name it in the settings.</p>
          </EmptyState>
        ) : (
          <Table name="clients" caption="All clients" columns={columns} rows={clients.map(toRow)} />
        )}
      </Section>
      <Section id="add" title="A new client">
        <Acts forms={forms} />
      </Section>
    </StaffPage>
  );
}

const columns: Column[] = [
  { label: 'Client' },
  { label: 'Last launch' },
  { label: 'Last read events' },
  { label: 'Unread', kind: 'amount' },
  { label: 'State', kind: 'state' },
];

function ClientState({
  row,
  isFailing,
  isBehind,
}: Pick<Client, 'row' | 'isFailing'> & { isBehind: boolean }) {
  if (row && row.state !== 'on' && row.state !== 'in_settings')
    return <Badge meaning="needs-you">{stateWords[row.state]}</Badge>;
  if (isFailing) return <Badge meaning="needs-you">Webhook fails</Badge>;
  if (row?.kind === 'openid' && row.state === 'on') return <Badge meaning="good">On</Badge>;
  return isBehind ? <Badge meaning="waiting">Behind</Badge> : <Badge meaning="good">Up to date</Badge>;
}

const toRow = ({ name, title, row, launchedAt, pulledAt, behind, isFailing }: Client): TableRow => ({
  key: name,
  cells: [
    <a key="client" href={clientPath(name)}>
      {title}
    </a>,
    launchedAt && <Instant key="launch" at={launchedAt} />,
    pulledAt && <Instant key="pull" at={pulledAt} />,
    row?.kind === 'openid' ? '' : whole(behind),
    <ClientState key="state" row={row} isFailing={isFailing} isBehind={behind > 0} />,
  ],
});

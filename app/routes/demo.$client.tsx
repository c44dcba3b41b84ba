import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { ArrivedEvents } from '../components/demo/arrived-events.tsx';
import { DemoPage, demoLinks } from '../components/demo/demo-page.tsx';
import { Tamper } from '../components/demo/tamper.tsx';
import { Notice } from '../components/notice.tsx';
import { Section } from '../components/section.tsx';
import { ServiceName } from '../components/service-name.ts';

export const meta = () => [{ title: 'Demo client' }];

export const links = demoLinks;

export async function loader({ request, params, context }: LoaderFunctionArgs) {
  const { client, title, clients } = context.demo.requireClient(params.client ?? '');
  return { name: client.name, title, visit: clients.findVisit(client, request) };
}

/** Logs out of the demo client only. */
export async function action({ request, params, context }: ActionFunctionArgs) {
  const { client, clients } = context.demo.requireClient(params.client ?? '');
  return clients.end(client, request);
}

const cacheNotices = {
  first: 'First visit: this client has cached your profile.',
  refreshed: 'Your profile has changed (newer profile_updated_at): this client refreshed its cache.',
  current: 'Your profile has not changed (same profile_updated_at): there was nothing to refresh.',
};

export default function DemoClient() {
  const { name, title, visit } = useLoaderData<typeof loader>();
  const { session, events = [], arrived = 0 } = visit ?? {};
  if (!session) {
    const [last] = events;
    return (
      <DemoPage
        client={name}
        title={title}
        heading={last ? 'You have been logged out' : 'You are not logged in'}
      >
        {last && (
          <Notice kind="info">
            This client ended your session when the event <code>{last.type}</code> arrived.
          </Notice>
        )}
        <p>This page plays the part of a product: a separate site with its own session.</p>
        <div className="actions">
          <a className="button" href={`/demo/${name}/login`}>
            Log in with <ServiceName />
          </a>
        </div>
        {visit && <ArrivedEvents events={events} />}
      </DemoPage>
    );
  }
  return (
    <DemoPage client={name} title={title} heading={`Hello, ${session.profile.name}`}>
      <Notice kind="success">
        {session.isProved && 'You have just logged in with your password again. '}
        {cacheNotices[session.cache]}
      </Notice>
      <Section id="cached" title="The profile in this client’s cache" bare>
        <dl className="facts card">
          <dt>Email address</dt>
          <dd>{session.profile.email}</dd>
          <dt>Role</dt>
          <dd>{session.profile.role}</dd>
          <dt>Capabilities</dt>
          <dd>{session.profile.account.capabilities.join(', ') || 'none'}</dd>
          <dt>profile_updated_at</dt>
          <dd>
            <code>{session.profile.profile_updated_at}</code>
          </dd>
        </dl>
        <div className="actions">
          <a className="button" href={`/demo/${name}/login`}>
            Log in again
          </a>
          <form method="post">
            <button type="submit" className="quiet">
              Log out of this client
            </button>
          </form>
          <a href={`/demo/${name}/login?prompt=login`}>Log in again with your password</a>
          <a href="/profile">Edit your profile</a>
        </div>
      </Section>
      <ArrivedEvents events={events} arrived={arrived} feed={`/demo/${name}/events`} />
      <Section id="payload" title="The verified payload" bare>
        <pre className="card">{JSON.stringify(session.payload, null, 2)}</pre>
      </Section>
      <Tamper client={name} query={session.query} />
    </DemoPage>
  );
}

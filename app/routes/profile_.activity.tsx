import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Instant } from '../components/instant.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { whenLoggedIn } from '../log-in-first.ts';

export const meta = titled('Activity');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const before = context.transport.readQuery(request).get('before') ?? undefined;
  return whenLoggedIn({ request, context }, async (procedures) => ({
    ...(await procedures.activity.list({ before })),
    isFirst: before === undefined,
  }));
}

type Change = { what: string; from: string | null; to: string | null };

/** Describes a change, such as "Name: from Zoë to Zoe". */
function describe({ what, from, to }: Change): string {
  if (to === 'yes' || to === 'no') return `${what}: ${to}`;
  if (from !== null && to !== null) return `${what}: from ${from} to ${to}`;
  if (to !== null) return `${what}: ${to}`;
  return from === null ? `${what} changed` : `${what}: ${from} removed`;
}

export default function Activity() {
  const { events, next, isFirst } = useLoaderData<typeof loader>();
  return (
    <Page
      title="Activity"
      intro={
        <>
          What happened to your account in the last 90 days, newest first. If you do not recognise something,{' '}
          <a href="/.well-known/change-password">change your password</a>.
        </>
      }
      wide
    >
      <div className="card">
        {events.length === 0 ? (
          <p>{isFirst ? 'Nothing happened in the last 90 days.' : 'There is nothing earlier.'}</p>
        ) : (
          <ul className="rows">
            {events.map(({ id, at, what, device, place, by, changes }) => (
              <li key={id}>
                <div>
                  <strong>{what}</strong>
                  {changes.map((change, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the changes never change their order
                    <p key={index}>{describe(change)}</p>
                  ))}
                  <p className="hint">
                    <Instant at={at} />
                    {[by, device, place].filter(Boolean).map((each) => ` · ${each}`)}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        )}
      </div>
      {(next || !isFirst) && (
        <nav className="actions" aria-label="Pages of activity">
          {next && (
            <a className="button quiet" href={`/profile/activity?before=${next}`}>
              Older
            </a>
          )}
          {!isFirst && <a href="/profile/activity">Back to newest</a>}
        </nav>
      )}
    </Page>
  );
}

import { data, type LoaderFunctionArgs, type MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Page } from '../components/page.tsx';
import { buildTitle } from '../components/service-name.ts';

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  { title: buildTitle(data ? titleOf(data) : '', matches) },
];

/**
 * The page between a form and a client (contract 9.191 to 9.194). It sends people to the client by a `Refresh` header and a
 * link, because browsers do not treat these as redirects after the form. Browsers keep no page in their history that is left
 * within a second.
 */
export function loader({ request, context }: LoaderFunctionArgs) {
  const { transport, site } = context;
  const query = transport.readQuery(request);
  const way = site.findWayOn(query.get('next'));
  if (!way) return transport.notFound();
  const stays = query.has('stay');
  const shown = { href: stays ? way.again : way.path, title: way.title, isBack: way.isBack, stays };
  // A prefetch or HEAD gets 204 without `Refresh`, so that no launch happens before somebody has clicked.
  if (transport.isSpeculative(request)) return data(shown, { status: 204 });
  return data(shown, stays ? undefined : { headers: { Refresh: `0; url=${way.path}` } });
}

export const headers = ({ loaderHeaders }: { loaderHeaders: Headers }) => loaderHeaders;

type Way = { title: string; isBack: boolean };

const titleOf = ({ title, isBack }: Way) => (isBack ? `Back to ${title}` : `Continue to ${title}`);

export default function Go() {
  const way = useLoaderData<typeof loader>();
  return (
    <Page title={titleOf(way)}>
      <div className="card">
        {way.stays ? (
          <p>Use this link to go to {way.title}.</p>
        ) : (
          <p>We are taking you to {way.title}. If nothing happens, use this link.</p>
        )}
        <div className="actions">
          <a className="button" href={way.href}>
            {titleOf(way)}
          </a>
          {way.stays && <a href="/profile">Go to your profile</a>}
        </div>
      </div>
    </Page>
  );
}

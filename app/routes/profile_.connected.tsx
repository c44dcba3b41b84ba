import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { MemberChanges } from '../components/account/member-changes.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import { leadPast, nextOf } from '../next.ts';

export const meta = titled('Marketplace account connected');

/** People come here right after they have connected an account. After ten minutes, this page only redirects. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const next = nextOf(request, context) ?? '/profile';
  return whenLoggedIn({ request, context }, async (procedures) => {
    const connect = await procedures.links.lastConnect();
    if (!connect) throw redirect(leadPast(next, request, context), 303);
    return { ...connect, next };
  });
}

export default function Connected() {
  const { changed, marketplace, next } = useLoaderData<typeof loader>();
  return (
    <Page title="Marketplace account connected" intro="You can now log in here from the marketplace.">
      <div className="card">
        <MemberChanges
          title="What has changed in your account here"
          changes={changed}
          nothing="Nothing in your account here has changed."
        />
        <div className="actions">
          <a className="button" href={next}>
            {next === '/profile' ? 'Go to your profile' : 'Continue'}
          </a>
          {marketplace.href && <a href={marketplace.href}>Go to {marketplace.title}</a>}
        </div>
      </div>
    </Page>
  );
}

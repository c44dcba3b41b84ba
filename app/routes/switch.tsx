import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Page } from '../components/page.tsx';

export const meta = () => [{ title: 'Switch users? · Identity' }];

/** The signed URL that this page posts on must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend } = context;
  const { searchParams } = new URL(request.url);
  const handOff = await backend.describeHandOff(searchParams);
  const session = await backend.findSession(request);
  // Logged out meanwhile: nothing to ask any more.
  if (!session) throw redirect(`/sso/marketplace/callback?${searchParams}`, 303);
  return { ...handOff, present: session.user.email, params: [...searchParams] };
}

export default function Switch() {
  const { name, email, present, params } = useLoaderData<typeof loader>();
  return (
    <Page title="Switch users?" intro="The marketplace sent you here as somebody else.">
      <form method="post" action="/sso/marketplace/callback" className="card">
        <p>
          You are logged in here as <strong>{present}</strong>. The marketplace knows you as{' '}
          <strong>{name}</strong> ({email}).
        </p>
        {params.map(([key, value]) => (
          <input key={key} type="hidden" name={key} value={value} />
        ))}
        <div className="actions">
          <button type="submit">Go on as {name}</button>
          <a href="/profile">Stay as I am</a>
        </div>
      </form>
    </Page>
  );
}

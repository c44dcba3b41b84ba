import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Page } from '../components/page.tsx';

export const meta = () => [{ title: 'Switch user? · Identity' }];

/** The signed URL that this page posts on must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend } = context;
  const { searchParams } = new URL(request.url);
  const handOff = await backend.describeHandOff(searchParams);
  const session = await backend.findSession(request);
  // Logged out in the meantime: nothing left to ask.
  if (!session) throw redirect(`/sso/marketplace/callback?${searchParams}`, 303);
  return { ...handOff, present: session.user.email, params: [...searchParams] };
}

export default function Switch() {
  const { name, email, present, params } = useLoaderData<typeof loader>();
  return (
    <Page title="Switch user?" intro="The marketplace sent you here as a different user.">
      <form method="post" action="/sso/marketplace/callback" className="card">
        <p>
          You are logged in as <strong>{present}</strong>. The marketplace knows you as{' '}
          <strong>{name}</strong> ({email}).
        </p>
        {params.map(([key, value]) => (
          <input key={key} type="hidden" name={key} value={value} />
        ))}
        <div className="actions">
          <button type="submit">Continue as {name}</button>
          <a href="/profile">Do not switch</a>
        </div>
      </form>
    </Page>
  );
}

import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Page } from '../components/page.tsx';

export const meta = () => [{ title: 'Verify your e-mail address · Identity' }];

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend } = context;
  const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
  const session = await backend.findSession(request);
  if (!session) throw redirect(backend.loginPath(request), 303);
  if (session.user.emailVerifiedAt) throw redirect(next ?? '/profile', 303);
  return { email: session.user.email, clientTitle: backend.findLaunchTitle(next) };
}

export default function VerifyEmail() {
  const { email, clientTitle } = useLoaderData<typeof loader>();
  return (
    <Page title="Please verify your e-mail address">
      <div className="card">
        <p>
          {clientTitle ? `${clientTitle} relies` : 'Our products rely'} on your address being yours, so we
          cannot carry your login on before <strong>{email}</strong> is verified.
        </p>
        <p>Your login here works, and you can see and edit your profile.</p>
        <div className="actions">
          <a className="button" href="/profile">
            Go to your profile
          </a>
        </div>
      </div>
    </Page>
  );
}

import {
  type ActionFunctionArgs,
  data,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = () => [{ title: 'Log in · Identity' }];

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend } = context;
  const { searchParams } = new URL(request.url);
  const session = await backend.findSession(request);
  const mustAsk = searchParams.get('prompt') === 'login';
  const next = backend.readOwnPath(searchParams.get('next'));
  if (session && !mustAsk && !context.isLoginRefused) throw redirect(next ?? '/profile', 303);
  const pendingEmail = await backend.findPendingLink(request);
  return {
    next,
    email: pendingEmail ?? session?.user.email,
    pendingEmail,
    clientTitle: backend.findLaunchTitle(next),
    hasLoggedOut: searchParams.has('logged_out'),
    demo: backend.demoLogins,
  };
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const form = await backend.readForm(request);
  const email = form.get('email') ?? '';
  const password = form.get('password') ?? '';
  try {
    const cookie = await backend.login(request, visit, { email, password });
    if (cookie) {
      const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
      return redirectDocument(next ?? '/profile', { status: 303, headers: { 'Set-Cookie': cookie } });
    }
  } catch (error) {
    const refusal = backend.readRefusal(error);
    if (refusal.code !== 'rate_limited') throw error;
    context.isLoginRefused = true;
    return data({ email, message: refusal.detail }, { status: refusal.status, headers: refusal.headers });
  }
  context.isLoginRefused = true;
  return data({ email, message: 'E-mail address or password is not right.' }, { status: 401 });
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function Login() {
  const { next, email, pendingEmail, clientTitle, hasLoggedOut, demo } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  return (
    <Page title="Log in" intro={clientTitle ? `to go on to ${clientTitle}` : 'One login for all products'}>
      {hasLoggedOut && !refused && <Notice kind="success">You are logged out here.</Notice>}
      {pendingEmail && (
        <Notice kind="info">
          <strong>{pendingEmail}</strong> has a password here already. Log in with it once, within ten
          minutes, and your marketplace login is connected to it.
        </Notice>
      )}
      {refused && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={useFormAction()} className="card">
        <Field
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus={!refused}
          defaultValue={refused?.email ?? email}
        />
        <Field
          key={refused?.message}
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          autoFocus={Boolean(refused)}
        />
        <button type="submit">Log in</button>
      </form>
      <p className="aside">
        <a href={`/forgot-password${next ? `?next=${encodeURIComponent(next)}` : ''}`}>
          No password yet, or forgotten?
        </a>
      </p>
      {demo && (
        <details className="demo-logins" open>
          <summary>Local mode: demo users</summary>
          <p>
            The password of all is <code>{demo.password}</code>
          </p>
          <ul>
            {demo.users.map((user) => (
              <li key={user.email}>
                <code>{user.email}</code> <span className="hint">{user.about}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Page>
  );
}

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
import { titled } from '../components/service-name.ts';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Log in');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend, visit } = context;
  const { searchParams } = new URL(request.url);
  const session = await backend.findSession(request, visit);
  const mustAsk = searchParams.get('prompt') === 'login';
  const next = backend.readOwnPath(searchParams.get('next'));
  // After a POST the login was refused, and the page says so even to somebody who is logged in.
  if (session && !mustAsk && context.method !== 'POST') throw redirect(next ?? '/profile', 303);
  return {
    next,
    email: session?.user.email,
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
    const setCookies = await backend.login(request, visit, { email, password });
    if (setCookies) {
      const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
      const headers = setCookies.map((cookie): [string, string] => ['Set-Cookie', cookie]);
      return redirectDocument(next ?? '/profile', { status: 303, headers });
    }
  } catch (error) {
    const refusal = backend.readRefusal(error, visit);
    if (refusal.code !== 'rate_limited') throw error;
    return data({ email, message: refusal.detail }, { status: refusal.status, headers: refusal.headers });
  }
  return data(
    { email, message: 'The email address or password is incorrect. Check them and try again.' },
    { status: 401 },
  );
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function Login() {
  const { next, email, clientTitle, hasLoggedOut, demo } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  return (
    <Page
      title="Log in"
      intro={clientTitle ? `to continue to ${clientTitle}` : 'Use one login for all our products'}
    >
      {hasLoggedOut && !refused && <Notice kind="success">You have logged out.</Notice>}
      {refused && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={useFormAction()} className="card">
        <Field
          label="Email address"
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
          Forgot your password, or don’t have one yet?
        </a>
      </p>
      {demo && (
        <details className="demo-logins" open>
          <summary>Local mode: demo users</summary>
          <p>
            Password for all demo users: <code>{demo.password}</code>
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

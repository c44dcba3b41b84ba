import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { Field } from '../components/field.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Set your password');

const tokenOf = (request: Request) => new URL(request.url).searchParams.get('token') ?? '';

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const token = tokenOf(request);
  const mail = await context.backend.findPasswordMail(token);
  return data({ mail, hasToken: token !== '' }, { status: mail ? 200 : 404 });
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const newPassword = (await backend.readForm(request)).get('newPassword') ?? '';
  try {
    const done = await backend.setPasswordByMail(request, visit, { token: tokenOf(request), newPassword });
    // The page says so itself.
    if (done === 'taken') return data({ error: undefined }, { status: 409 });
    const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
    const target = next ?? '/profile?saved=password-set';
    const headers = done.map((cookie): [string, string] => ['Set-Cookie', cookie]);
    return redirectDocument(target, { status: 303, headers });
  } catch (error) {
    const refusal = backend.readRefusal(error, visit);
    if (refusal.code !== 'validation_failed' && refusal.code !== 'not_found') throw error;
    return data({ error: refusal.errors[0]?.detail }, { status: refusal.status });
  }
}

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export default function SetPassword() {
  const { mail, hasToken } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  if (!mail) return <DeadLink hasToken={hasToken} />;
  const { email, sets } = mail;
  if (sets === 'taken') return <Taken email={email} />;
  return (
    <Page title="Set your password" intro={`for ${email}`}>
      <form method="post" action={here} className="card">
        {/* Tells password managers whose password it is. */}
        <input type="email" autoComplete="username" value={email} readOnly hidden />
        <Field
          key={refused?.error}
          label="New password"
          hint="Use at least 12 characters. A few random words work well."
          name="newPassword"
          type="password"
          autoComplete="new-password"
          required
          autoFocus
          error={refused?.error}
        />
        <p className="hint">This logs you in here and logs you out everywhere else.</p>
        <button type="submit">Set password</button>
      </form>
    </Page>
  );
}

function DeadLink({ hasToken }: { hasToken: boolean }) {
  return (
    <Page title={hasToken ? 'This link no longer works' : 'This link is not complete'}>
      <div className="card">
        <p>
          {hasToken
            ? 'It has been used, is too old, or the password has been changed since it was sent.'
            : 'Open the link from our email again, or copy the whole of it.'}
        </p>
        <div className="actions">
          <a className="button" href="/forgot-password">
            Ask for a new link
          </a>
          <a href="/login">Log in</a>
        </div>
      </div>
    </Page>
  );
}

/** Somebody proved this address first. Most likely it was the same person. */
function Taken({ email }: { email: string }) {
  return (
    <Page title="You already have an account">
      <div className="card">
        <p>
          There is an account with the address <strong>{email}</strong>. Log in to it, or set a new password
          if you do not have one or forgot it.
        </p>
        <div className="actions">
          <a className="button" href="/login">
            Log in
          </a>
          <a href="/forgot-password">Set a new password</a>
        </div>
      </div>
    </Page>
  );
}

import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { Field } from '../components/field.tsx';
import { Page } from '../components/page.tsx';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = () => [{ title: 'Set your password · Identity' }];

const tokenOf = (request: Request) => new URL(request.url).searchParams.get('token') ?? '';

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const email = await context.backend.findPasswordMailAddress(tokenOf(request));
  return data({ email }, { status: email ? 200 : 404 });
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const newPassword = (await backend.readForm(request)).get('newPassword') ?? '';
  try {
    const cookie = await backend.setPasswordByMail(request, visit, { token: tokenOf(request), newPassword });
    const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
    const target = next ?? '/profile?saved=password-set';
    return redirectDocument(target, { status: 303, headers: { 'Set-Cookie': cookie } });
  } catch (error) {
    const refusal = backend.readRefusal(error);
    if (refusal.code !== 'validation_failed' && refusal.code !== 'not_found') throw error;
    return data({ error: refusal.errors[0]?.detail }, { status: refusal.status });
  }
}

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export default function SetPassword() {
  const { email } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  if (!email) {
    return (
      <Page title="This link no longer works">
        <div className="card">
          <p>
            It has been used, is more than 7 days old, or the password has been changed since it was sent.
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

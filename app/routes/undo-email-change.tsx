import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { toHeaders, tokenOf } from '../answers.ts';
import { DeadLink } from '../components/dead-link.tsx';
import { NewPassword } from '../components/new-password.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Undo the change of your email address');

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const undo = await context.backend.findUndo(tokenOf(request));
  const { supportUrl } = context.backend.config;
  return data({ email: undo?.email, supportUrl }, { status: undo ? 200 : 404 });
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const newPassword = (await backend.readForm(request)).get('newPassword') ?? '';
  try {
    const done = await backend.undoEmailChange(request, visit, { token: tokenOf(request), newPassword });
    const headers = toHeaders(done.setCookies);
    const home = new URLSearchParams([
      ['saved', 'email-undone'],
      ...done.removed.map((what) => ['removed', what]),
    ]);
    const target = backend.pathAfterLogin(done, undefined, `/profile?${home}`);
    // The page that asks for the code says so first.
    return redirectDocument(done.needsCode ? `${target}&new_password` : target, { status: 303, headers });
  } catch (error) {
    const refusal = backend.readRefusal(error, visit);
    if (refusal.code !== 'validation_failed' && refusal.code !== 'not_found') throw error;
    return data({ error: refusal.errors[0]?.detail }, { status: refusal.status });
  }
}

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export default function UndoEmailChange() {
  const { email, supportUrl } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  if (!email) return <Dead supportUrl={supportUrl} />;
  return (
    <Page title="Get your email address back" intro={email}>
      <form method="post" action={here} className="card">
        <p>
          Your account will have this address again, and a new password that only you know. You will be logged
          in here and logged out everywhere else. The address that replaced it can no longer be used to get
          in.
        </p>
        <p>
          Passkeys, authenticator apps and recovery codes added since the day before the change are removed.
        </p>
        <NewPassword email={email} error={refused?.error} />
        <button type="submit">Undo the change</button>
      </form>
    </Page>
  );
}

function Dead({ supportUrl }: { supportUrl: string | undefined }) {
  const logIn = (
    <a className="button" href="/login">
      Log in
    </a>
  );
  return (
    <DeadLink actions={logIn}>
      It has been used, is too old, or is not complete.
      {supportUrl && (
        <>
          {' '}
          If somebody else has your account, <a href={supportUrl}>contact support</a>.
        </>
      )}
    </DeadLink>
  );
}

import {
  type ActionFunctionArgs,
  data,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { tokenOf } from '../answers.ts';
import { DeadLink } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf } from '../next.ts';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Verify your email address');

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend, visit } = context;
  const next = nextOf(request, context);
  const session = await backend.findSession(request, visit);
  if (!session) throw redirect(backend.loginPath(request), 303);
  if (session.user.emailVerifiedAt) throw redirect(next ?? '/profile', 303);
  const { caller } = backend.createCaller(request, visit);
  const isDead = !(await caller.email.canVerify({ token: tokenOf(request, context) }));
  const { email } = session.user;
  return data({ email, isDead, clientTitle: backend.findLaunchTitle(next) }, { status: isDead ? 404 : 200 });
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const { caller } = backend.createCaller(request, visit);
  try {
    await caller.email.verify({ token: tokenOf(request, context) });
  } catch (error) {
    const refusal = backend.readRefusal(error, visit);
    if (refusal.code === 'login_required') return redirectDocument(backend.loginPath(request), 303);
    if (refusal.code !== 'not_found') throw error;
    // The page says so itself.
    return data(null, { status: refusal.status });
  }
  return redirectDocument(nextOf(request, context) ?? '/profile?saved=email-verified', 303);
}

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export default function ConfirmEmail() {
  const { email, isDead, clientTitle } = useLoaderData<typeof loader>();
  const here = useFormAction();
  if (isDead) {
    const askAgain = (
      <a className="button" href="/verify-email">
        Ask for a new link
      </a>
    );
    return (
      <DeadLink actions={askAgain}>
        It has been used, is too old, or was sent to a different address. You are logged in as{' '}
        <strong>{email}</strong>.
      </DeadLink>
    );
  }
  return (
    <Page title="Verify your email address">
      <form method="post" action={here} className="card">
        <p>
          Is <strong>{email}</strong> your email address?
          {clientTitle && <> Once it is verified, we will take you to {clientTitle}.</>}
        </p>
        <div className="actions">
          <button type="submit">Yes, verify it</button>
        </div>
      </form>
    </Page>
  );
}

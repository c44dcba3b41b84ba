import {
  type ActionFunctionArgs,
  data,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { KeptMails, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = () => [{ title: 'Verify your e-mail address · Identity' }];

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend } = context;
  const { searchParams } = new URL(request.url);
  const next = backend.readOwnPath(searchParams.get('next'));
  const session = await backend.findSession(request);
  if (!session) throw redirect(backend.loginPath(request), 303);
  if (session.user.emailVerifiedAt) throw redirect(next ?? '/profile', 303);
  return {
    email: session.user.email,
    clientTitle: backend.findLaunchTitle(next),
    isSent: searchParams.has('sent'),
    keepsMails: backend.keepsMails,
  };
}

/** Mails the link, which goes on to where this page was to lead. */
export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
  const { caller } = backend.createCaller(request, visit);
  try {
    await caller.email.requestVerification({ next });
  } catch (error) {
    const refusal = backend.readRefusal(error);
    if (refusal.code === 'login_required') return redirectDocument(backend.loginPath(request), 303);
    if (refusal.code !== 'rate_limited') throw error;
    return data({ message: refusal.detail }, { status: refusal.status, headers: refusal.headers });
  }
  return redirectDocument(`/verify-email?sent${next ? `&next=${encodeURIComponent(next)}` : ''}`, 303);
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function VerifyEmail() {
  const { email, clientTitle, isSent, keepsMails } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  return (
    <Page title="Please verify your e-mail address">
      {refused && <Notice kind="error">{refused.message}</Notice>}
      {isSent && !refused && (
        <Notice kind="success">
          A link is on its way to <strong>{email}</strong>. Open it in this browser.
        </Notice>
      )}
      <form method="post" action={useFormAction()} className="card">
        <p>
          {clientTitle ? `${clientTitle} relies` : 'Our products rely'} on your address being yours, so we
          cannot carry your login on before <strong>{email}</strong> is verified.
        </p>
        {isSent && keepsMails && <KeptMails />}
        <p>Your login here works, and you can see and edit your profile.</p>
        <div className="actions">
          <button type="submit">{isSent ? 'Mail me another link' : 'Mail me a link'}</button>
          <a href="/profile">Go to your profile</a>
        </div>
      </form>
    </Page>
  );
}

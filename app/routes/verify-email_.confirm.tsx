import {
  type ActionFunctionArgs,
  data,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { loadOwnAddress } from '../account-form.ts';
import { explainLink, tokenOf } from '../answers.ts';
import { AskForLink, EndedLink, LogInElsewhere } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf, withNext } from '../next.ts';

/** The page's form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Verify your email address');

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, site, transport } = context;
  const next = nextOf(request, context);
  const { email, isVerified } = await loadOwnAddress({ request, context });
  if (isVerified) throw redirect(next ?? '/profile', 303);
  const isDead = !(await procedures.email.canVerify({ token: tokenOf(request, context) }));
  const ended = await explainLink({ request, context }, 'verify_email', !isDead);
  const clientTitle = site.findLaunchTitle(next);
  const otherLogin = `${transport.loginPath(request)}&prompt=login`;
  return data({ email, isDead, ended, next, otherLogin, clientTitle }, { status: isDead ? 404 : 200 });
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  try {
    await procedures.email.verify({ token: tokenOf(request, context) });
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (refusal.code === 'login_required') return redirectDocument(transport.loginPath(request), 303);
    if (refusal.code !== 'not_found') throw error;
    // The page says so itself.
    return data(null, { status: refusal.status });
  }
  return redirectDocument(nextOf(request, context) ?? '/profile?saved=email-verified', 303);
}

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export default function ConfirmEmail() {
  const { email, isDead, ended, next, otherLogin, clientTitle } = useLoaderData<typeof loader>();
  const here = useFormAction();
  if (isDead) {
    const ask = <AskForLink action={withNext('/verify-email', next)} email={email} />;
    return (
      <EndedLink
        link={ended}
        next={({ fate }) => (fate === 'other_account' ? <LogInElsewhere href={otherLogin} /> : ask)}
        otherwise={ask}
      >
        {' '}
        You are logged in as <strong>{email}</strong>.
      </EndedLink>
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

import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { tokenOf } from '../answers.ts';
import { DeadLink } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, loadOwnAddress } from '../forms.ts';
import { leadPast, nextOf } from '../next.ts';

/** The page's form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Verify your email address');

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, site } = context;
  const next = nextOf(request, context);
  const { email, isVerified } = await loadOwnAddress({ request, context }, 'other-browser');
  if (isVerified) throw redirectDocument(leadPast(next ?? '/profile', request, context), 303);
  const isDead = !(await procedures.email.canVerify({ token: tokenOf(request, context) }));
  return data({ email, isDead, clientTitle: site.findLaunchTitle(next) }, { status: isDead ? 404 : 200 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(_form, procedures) {
      const { request, context } = args;
      await procedures.email.verify({ token: tokenOf(request, context) });
      return nextOf(request, context) ?? '/profile?saved=email-verified';
    },
  });

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

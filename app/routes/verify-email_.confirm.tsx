import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { AskForLink, EndedLink, LogInElsewhere } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm } from '../forms.ts';
import { loadOwnAddress, otherLoginPath } from '../log-in-first.ts';
import { leadPast, nextOf, withNext } from '../next.ts';

export const meta = titled('Verify your email address');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, site } = context;
  const next = nextOf(request, context);
  const { email, isVerified } = await loadOwnAddress({ request, context }, 'other-browser');
  if (isVerified) throw redirect(leadPast(next ?? '/profile', request, context), 303);
  const isDead = !(await procedures.email.canVerify({ token: tokenOf(request, context) }));
  const ended = await explainLink({ request, context }, 'verify_email', !isDead);
  const clientTitle = site.findLaunchTitle(next);
  const otherLogin = otherLoginPath(request);
  return data({ email, isDead, ended, next, otherLogin, clientTitle }, { status: isDead ? 404 : 200 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    needsNoFields: true,
    async act(_form, procedures) {
      const { request, context } = args;
      await procedures.email.verify({ token: tokenOf(request, context) });
      return nextOf(request, context) ?? '/profile?saved=email-verified';
    },
  });

export const headers = noReferrer;

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
          {clientTitle && <> Once it is verified, you will go on to {clientTitle}.</>}
        </p>
        <div className="actions">
          <button type="submit">Yes, verify it</button>
        </div>
      </form>
    </Page>
  );
}

import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { MailSentBefore } from '../components/mail-sent-before.tsx';
import { KeptMails, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, isAgain } from '../forms.ts';
import { loadOwnAddress } from '../log-in-first.ts';
import { leadPast, nextOf, withNext } from '../next.ts';

export const meta = titled('Verify your email address');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { transport, site } = context;
  const next = nextOf(request, context);
  const { email, holdsEmail, isVerified } = await loadOwnAddress({ request, context });
  if (isVerified) throw redirect(leadPast(next ?? '/profile', request, context), 303);
  return {
    email,
    holdsEmail,
    clientTitle: site.findLaunchTitle(next),
    isSent: transport.readQuery(request).has('sent'),
    keepsMails: site.keepsMails,
  };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    needsNoFields: true,
    async act(form, procedures) {
      // The result does not matter, because a second request for the mail does the same as the first. This call only refuses
      // unknown intents.
      isAgain(form, args.context);
      const next = nextOf(args.request, args.context);
      await procedures.email.requestVerification({ next });
      return withNext('/verify-email?sent', next);
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function VerifyEmail() {
  const { email, holdsEmail, clientTitle, isSent, keepsMails } = useLoaderData<typeof loader>();
  const refused = useRefused();
  return (
    <Page title="Verify your email address">
      {refused?.minutes && <MailSentBefore minutes={refused.minutes} />}
      {isSent && !refused && (
        <Notice kind="success">
          We have sent a link to <strong>{email}</strong>.{' '}
          {holdsEmail
            ? 'Open it in this browser.'
            : 'Open it and set a password. That verifies your address.'}
        </Notice>
      )}
      <form method="post" action={useFormAction()} className="card">
        <p>
          You need to verify <strong>{email}</strong> before you can open {clientTitle ?? 'our products'}.
          {!isSent &&
            (holdsEmail
              ? ' We will email you a link.'
              : ' We will email you a link. With it you also set a password.')}
        </p>
        {isSent && keepsMails && <KeptMails />}
        <p>You can still view and edit your profile.</p>
        <div className="actions">
          {isSent ? (
            <button type="submit" name="intent" value="again" className="secondary">
              Send it again
            </button>
          ) : (
            <button type="submit">Email me a link</button>
          )}
          <a href="/profile">Go to your profile</a>
        </div>
      </form>
    </Page>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { EmailField } from '../components/field.tsx';
import { MailSentBefore } from '../components/mail-sent-before.tsx';
import { MailUnderWay } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { SendAgain } from '../components/send-again.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, isAgain, text } from '../forms.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Set or reset your password', 'Check your email');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const isSent = transport.readQuery(request).has('sent');
  const typed = await procedures.login.typedEmail();
  return {
    next: nextOf(request, context),
    isSent,
    typed: isSent
      ? typed
      : ((await procedures.login.lastEmail()) ?? typed ?? (await procedures.visitor.find())?.email),
    keepsMails: site.keepsMails,
  };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['email'],
    async act(form, procedures) {
      const next = nextOf(args.request, args.context);
      if (isAgain(form, args.context)) {
        const done = await procedures.passwordMail.requestAgain({ next });
        return withNext(done === 'sent' ? '/forgot-password?sent' : '/forgot-password', next);
      }
      const email = text(form, 'email');
      await procedures.passwordMail.request({ email, next });
      await procedures.login.keepTypedEmail({ email });
      return withNext('/forgot-password?sent', next);
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function ForgotPassword() {
  const { next, isSent, typed, keepsMails } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const here = useFormAction();
  const backToLogin = (
    <p className="aside">
      <a href={withNext('/login', next)}>Back to login</a>
    </p>
  );
  if (isSent && !refused) {
    return (
      <Page title="Check your email">
        <div className="card">
          <p>
            If there is an account for {typed ? <strong>{typed}</strong> : 'that address'}, we have emailed a
            link to set a password.
          </p>
          <MailUnderWay keepsMails={keepsMails} />
        </div>
        <SendAgain formPath={withNext('/forgot-password', next)} />
        {backToLogin}
      </Page>
    );
  }
  return (
    <Page title="Set or reset your password" intro="Enter your email address and we will send you a link.">
      {refused?.minutes && <MailSentBefore minutes={refused.minutes} logInPath={withNext('/login', next)} />}
      <form method="post" action={here} className="card">
        <EmailField
          label="Email address"
          name="email"
          autoComplete="username"
          required
          autoFocus
          defaultValue={refused?.values.email || typed}
          error={refused?.errors.email}
        />
        <button type="submit">Email me a link</button>
      </form>
      {backToLogin}
    </Page>
  );
}

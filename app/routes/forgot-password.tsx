import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { Field } from '../components/field.tsx';
import { MailSentBefore } from '../components/mail-sent-before.tsx';
import { MailUnderWay } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { SendAgain } from '../components/send-again.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf, withNext } from '../next.ts';

/** The page's form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Set or reset your password', 'Check your email');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  return {
    next: nextOf(request, context),
    isSent: transport.readQuery(request).has('sent'),
    typed: await procedures.login.typedEmail(),
    keepsMails: site.keepsMails,
  };
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const email = form.get('email') ?? '';
  const next = nextOf(request, context);
  try {
    if (form.get('intent') === 'again') {
      const done = await procedures.passwordMail.requestAgain({ next });
      return redirectDocument(
        withNext(done === 'sent' ? '/forgot-password?sent' : '/forgot-password', next),
        303,
      );
    }
    if (form.has('intent')) throw transport.invalidParameter('intent', 'It must be an action of this page.');
    await procedures.passwordMail.request({ email, next });
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (refusal.code !== 'validation_failed' && refusal.code !== 'rate_limited') throw error;
    const answer = { email, error: refusal.errors[0]?.detail, minutes: refusal.minutes };
    return data(answer, { status: refusal.status, headers: refusal.headers });
  }
  await procedures.login.keepTypedEmail({ email });
  return redirectDocument(withNext('/forgot-password?sent', next), 303);
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function ForgotPassword() {
  const { next, isSent, typed, keepsMails } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
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
            If there is an account with {typed ? <strong>{typed}</strong> : 'that address'}, we have sent it a
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
        <Field
          label="Email address"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          defaultValue={refused?.email || typed}
          error={refused?.error}
        />
        <button type="submit">Email me a link</button>
      </form>
      {backToLogin}
    </Page>
  );
}

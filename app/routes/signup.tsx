import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { EmailField, Field } from '../components/field.tsx';
import { MailSentBefore } from '../components/mail-sent-before.tsx';
import { Meant } from '../components/meant.tsx';
import { MailUnderWay } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { SendAgain } from '../components/send-again.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, isAgain, text } from '../forms.ts';
import { leadPast, nextOf, withNext } from '../next.ts';

export const meta = titled('Create an account', 'Check your email');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  await procedures.signUp.requireOpen();
  const next = nextOf(request, context);
  if (await procedures.visitor.find()) throw redirect(leadPast(next ?? '/profile', request, context), 303);
  return {
    next,
    clientTitle: site.findLaunchTitle(next),
    isSent: transport.readQuery(request).has('sent'),
    typed: await procedures.login.typedEmail(),
    typedName: await procedures.login.typedName(),
    keepsMails: site.keepsMails,
  };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['name', 'email', 'meant'],
    async act(form, procedures) {
      const next = nextOf(args.request, args.context);
      const [name, email] = [text(form, 'name'), text(form, 'email')];
      if (isAgain(form, args.context)) {
        const done = await procedures.signUp.requestAgain({ next });
        return withNext(done === 'sent' ? '/signup?sent' : '/signup', next);
      }
      await procedures.signUp.request({ name, email, isMeant: form.get('meant') === 'yes', next });
      await procedures.login.keepTypedEmail({ email, name });
      return withNext('/signup?sent', next);
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function SignUp() {
  const { next, clientTitle, isSent, typed, typedName, keepsMails } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const here = useFormAction();
  const isAddressWrong = !refused?.errors.name && Boolean(refused?.errors.email ?? refused?.errors.meant);
  if (isSent && !refused) return <Sent next={next} typed={typed} keepsMails={keepsMails} />;
  return (
    <Page
      title="Create an account"
      intro={clientTitle ? `To continue to ${clientTitle}` : 'Use one account for all our products'}
    >
      {refused?.minutes && <MailSentBefore minutes={refused.minutes} logInPath={withNext('/login', next)} />}
      <form method="post" action={here} className="card">
        <Field
          label="Name"
          name="name"
          autoComplete="name"
          required
          autoFocus={!isAddressWrong}
          defaultValue={refused?.values.name || typedName}
          error={refused?.errors.name}
        />
        <EmailField
          label="Email address"
          hint="We will send you a link to confirm it."
          name="email"
          autoComplete="email"
          required
          defaultValue={refused?.values.email || typed}
          error={refused?.errors.email ?? refused?.errors.meant}
        />
        <Meant refused={refused} />
        <button type="submit">Continue</button>
      </form>
      <p className="aside">
        Already have an account? <a href={withNext('/login', next)}>Log in</a>
      </p>
    </Page>
  );
}

type SentProps = { next: string | undefined; typed: string | undefined; keepsMails: boolean };

function Sent({ next, typed, keepsMails }: SentProps) {
  return (
    <Page title="Check your email">
      <div className="card">
        <p>
          We have sent an email to {typed ? <strong>{typed}</strong> : 'the address that you entered'}. Open
          the link in it to create your account. If you already have an account with that address, the email
          will say so.
        </p>
        <MailUnderWay keepsMails={keepsMails} />
      </div>
      <SendAgain formPath={withNext('/signup', next)} />
      <p className="aside">
        <a href={withNext('/login', next)}>Back to login</a>
      </p>
    </Page>
  );
}

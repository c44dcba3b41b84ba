import {
  type ActionFunctionArgs,
  data,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { errorsOf } from '../answers.ts';
import { Field } from '../components/field.tsx';
import { Meant } from '../components/meant.tsx';
import { MailUnderWay, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf, withNext } from '../next.ts';

/** The page's form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Create an account', 'Check your email');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  await procedures.signUp.requireOpen();
  const next = nextOf(request, context);
  if (await procedures.visitor.find()) throw redirect(next ?? '/profile', 303);
  return {
    next,
    clientTitle: site.findLaunchTitle(next),
    isSent: transport.readQuery(request).has('sent'),
    typed: await procedures.login.typedEmail(),
    keepsMails: site.keepsMails,
  };
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const [name, email] = [form.get('name') ?? '', form.get('email') ?? ''];
  const isMeant = form.get('meant') === 'yes';
  const next = nextOf(request, context);
  try {
    await procedures.signUp.request({ name, email, isMeant, next });
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (refusal.code !== 'validation_failed' && refusal.code !== 'rate_limited') throw error;
    const message = refusal.errors.length > 0 ? undefined : refusal.detail;
    const errors = errorsOf(refusal);
    return data(
      { name, email, errors, isAsked: isMeant || errors.meant !== undefined, message },
      { status: refusal.status, headers: refusal.headers },
    );
  }
  await procedures.login.keepTypedEmail({ email });
  return redirectDocument(withNext('/signup?sent', next), 303);
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function SignUp() {
  const { next, clientTitle, isSent, typed, keepsMails } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  if (isSent && !refused) return <Sent next={next} typed={typed} keepsMails={keepsMails} />;
  return (
    <Page
      title="Create an account"
      intro={clientTitle ? `to continue to ${clientTitle}` : 'Use one login for all our products'}
    >
      {refused?.message && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={here} className="card">
        <Field
          label="Name"
          name="name"
          autoComplete="name"
          required
          autoFocus
          defaultValue={refused?.name}
          error={refused?.errors.name}
        />
        <Field
          label="Email address"
          hint="We will send a link to it."
          name="email"
          type="email"
          autoComplete="email"
          required
          defaultValue={refused?.email}
          error={refused?.errors.email ?? refused?.errors.meant}
          focusOnError={!refused?.errors.name}
        />
        <Meant isAsked={refused?.isAsked} />
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
          the link in it to create your account. If there is an account with that address already, the email
          says so.
        </p>
        <MailUnderWay keepsMails={keepsMails} />
      </div>
      <p className="aside">
        <a href={withNext('/signup', next)}>Send it again, or use another address</a>
      </p>
      <p className="aside">
        <a href={withNext('/login', next)}>Back to login</a>
      </p>
    </Page>
  );
}

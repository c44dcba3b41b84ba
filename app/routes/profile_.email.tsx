import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { loadAccount } from '../account-form.ts';
import { emailPage } from '../components/account/account-pages.ts';
import { SendAgain } from '../components/account/email-address.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/field.tsx';
import { Meant } from '../components/meant.tsx';
import { MailUnderWay, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';

/** The page's form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Change your email address', 'Check your new inbox');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { transport, site } = context;
  const loaded = await loadAccount({ request, context }, async (procedures) => ({
    ...(await procedures.address.describeChange()),
    pending: (await procedures.email.pendingChange())?.email,
  }));
  return { ...loaded, isSent: transport.readQuery(request).has('sent'), keepsMails: site.keepsMails };
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const email = form.get('email') ?? '';
  const isMeant = form.get('meant') === 'yes';
  try {
    await procedures.address.requireMeant({ email, isMeant });
    const { asks } = await procedures.confirm.ask({ form, change: 'email.change_requested' });
    if (asks)
      return data({ asks, email, isAsked: isMeant, error: undefined, message: undefined }, { status: 401 });
    await procedures.email.requestChange({ email });
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (refusal.code === 'login_required') return redirectDocument(transport.loginPath(request), 303);
    if (!['validation_failed', 'rate_limited', 'email_unverified'].includes(refusal.code)) throw error;
    const [fault] = refusal.errors;
    const refused = {
      asks: undefined,
      email,
      isAsked: isMeant || fault?.pointer === '/meant',
      error: fault?.detail,
      message: fault ? undefined : refusal.detail,
    };
    return data(refused, { status: refusal.status, headers: refusal.headers });
  }
  return redirectDocument('/profile/email?sent', 303);
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function ChangeEmail() {
  const { email, pending, obstacle, isSent, keepsMails, ...counts } = useLoaderData<typeof loader>();
  const answer = useActionData<typeof action>();
  const here = useFormAction();
  if (answer?.asks) return <Confirm asks={answer.asks} />;
  if (obstacle) return <Obstacle email={email} obstacle={obstacle} />;
  if (isSent && !answer) return <Sent email={email} pending={pending} keepsMails={keepsMails} />;
  return (
    <Page title="Change your email address" intro={`It is ${email} now.`}>
      {answer?.message && <Notice kind="error">{answer.message}</Notice>}
      <form method="post" action={here} className="card">
        <Field
          label="New email address"
          hint="We will send a link to it. Nothing changes before you use the link."
          name="email"
          type="email"
          autoComplete="email"
          required
          autoFocus
          defaultValue={answer?.email}
          error={answer?.error}
        />
        <Meant isAsked={answer?.isAsked} />
        <TakeBack {...counts} />
        <div className="actions">
          <button type="submit">Email me a link</button>
          <a href="/profile">Cancel</a>
        </div>
      </form>
    </Page>
  );
}

/** Who can undo the change, and what keeps a reader of the old mailbox from it. */
const TakeBack = ({ asksForFactor, isEstablished }: { asksForFactor: boolean; isEstablished: boolean }) => (
  <>
    <p>
      For seven days after the change, whoever reads the emails to your old address can take the account back.
      Only a passkey or an authenticator app keeps them from it: one that is at least a week old, or that you
      added in a browser we had known for a week.{' '}
      <strong>
        {asksForFactor
          ? 'You have one that counts, so they cannot do it without that.'
          : 'You have none that counts now.'}
      </strong>
    </p>
    <p>
      {isEstablished
        ? 'This browser counts, so a passkey or an app that you add here protects you at once.'
        : 'We have known this browser for less than a week, so a passkey or an app that you add here protects you only after a week, or up to two if you add something else in between.'}
    </p>
  </>
);

function Obstacle({ email, obstacle }: { email: string; obstacle: 'unproved' | 'no_credential' }) {
  const isUnproved = obstacle === 'unproved';
  return (
    <Page title={isUnproved ? 'Verify your email address first' : 'Set a password first'}>
      <div className="card">
        <p>
          Your address is <strong>{email}</strong>.{' '}
          {isUnproved
            ? 'Before you can change the address, verify it.'
            : 'Set a password before you change the address. It shows us that the change is yours.'}
        </p>
        <div className="actions">
          <a className="button" href={isUnproved ? '/verify-email' : '/forgot-password'}>
            {isUnproved ? 'Verify it' : 'Set a password by email'}
          </a>
          <a href="/profile">Go to your profile</a>
        </div>
      </div>
    </Page>
  );
}

type SentProps = { email: string; pending: string | undefined; keepsMails: boolean };

/** Uses the same words whether or not somebody has the address. */
function Sent({ email, pending, keepsMails }: SentProps) {
  return (
    <Page title="Check your new inbox">
      <div className="card">
        <p>
          We have sent an email to {pending ? <strong>{pending}</strong> : 'the new address'}. Open the link
          in it within an hour. Until then, your address is <strong>{email}</strong>.
        </p>
        <MailUnderWay keepsMails={keepsMails} />
        <div className="actions">
          {pending && <SendAgain email={pending} className="secondary" />}
          <a href={emailPage}>{pending ? 'Use another address' : 'Send it again, or use another address'}</a>
          <a href="/profile">Go to your profile</a>
        </div>
      </div>
    </Page>
  );
}

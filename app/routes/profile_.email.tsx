import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { emailPage, sayCodeFactors } from '../components/account/account-pages.ts';
import { SendAgain } from '../components/account/email-address.tsx';
import { Confirm } from '../components/confirm.tsx';
import { EmailField } from '../components/field.tsx';
import { MailSentBefore } from '../components/mail-sent-before.tsx';
import { Meant } from '../components/meant.tsx';
import { MailUnderWay, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, isAgain, requireNoAsks, text } from '../forms.ts';
import { loadAccount } from '../log-in-first.ts';

export const meta = titled('Change your email address', 'Check your new inbox');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { transport, site } = context;
  const loaded = await loadAccount({ request, context }, async (procedures) => ({
    ...(await procedures.address.describeChange()),
    pending: (await procedures.email.pendingChange())?.email,
  }));
  return { ...loaded, isSent: transport.readQuery(request).has('sent'), keepsMails: site.keepsMails };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['email', 'meant'],
    async act(form, procedures) {
      const again = isAgain(form, args.context) ? await procedures.email.pendingChange() : undefined;
      if (again === null) return emailPage;
      const email = again?.email ?? text(form, 'email');
      await procedures.address.requireMeant({
        email,
        isMeant: again !== undefined || form.get('meant') === 'yes',
      });
      requireNoAsks(await procedures.confirm.ask({ form, change: 'email.change_requested' }));
      await procedures.email.requestChange({ email });
      return '/profile/email?sent';
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function ChangeEmail() {
  const { email, pending, obstacle, isSent, keepsMails, ...counts } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const here = useFormAction();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Change your email address" />;
  if (obstacle) return <Obstacle email={email} obstacle={obstacle} />;
  if (isSent && !refused) return <Sent email={email} pending={pending} keepsMails={keepsMails} />;
  return (
    <Page title="Change your email address" intro={`Your email address is ${email}.`}>
      {refused?.minutes && <MailSentBefore minutes={refused.minutes} />}
      {refused?.message && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={here} className="card">
        <EmailField
          label="New email address"
          hint="We will send a link to this address. Nothing changes until you use it."
          name="email"
          autoComplete="email"
          required
          autoFocus
          defaultValue={refused?.values.email ?? pending}
          error={refused?.errors.email ?? refused?.errors.meant}
        />
        <Meant refused={refused} />
        <TakeBack {...counts} />
        <div className="actions">
          <button type="submit">Email me a link</button>
          <a href="/profile">Cancel</a>
        </div>
      </form>
    </Page>
  );
}

const TakeBack = ({ asksForFactor, isEstablished }: { asksForFactor: boolean; isEstablished: boolean }) => (
  <>
    <p>
      For 7 days after the change, anyone who can read email sent to your old address can take the account
      back. To prevent that, you need a passkey or {sayCodeFactors('one', ' or ')} that you added at least a
      week ago, or in a browser that you had used with your account for a week.{' '}
      <strong>
        {asksForFactor
          ? 'You have one, so they cannot take the account back without it.'
          : 'You do not have one yet.'}
      </strong>
    </p>
    <p>
      {isEstablished
        ? `You have used this browser with your account for at least a week, or from the beginning, so a passkey or ${sayCodeFactors('brief', ' or ')} that you add here protects you straight away.`
        : `You have used this browser with your account for less than a week, so a passkey or ${sayCodeFactors('brief', ' or ')} that you add here starts to protect you in one to two weeks.`}
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
            ? 'You need to verify it before you can change it.'
            : 'Set a password before you change the address, so that we know the change is from you.'}
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

/**
 * The words are the same whether or not another user has that email address. So the page does not reveal whether the address is
 * used here.
 */
function Sent({ email, pending, keepsMails }: SentProps) {
  return (
    <Page title="Check your new inbox">
      <div className="card">
        <p>
          We have sent an email to {pending ? <strong>{pending}</strong> : 'the new address'}. Open the link
          in it within an hour. Your address stays <strong>{email}</strong> until you do.
        </p>
        <MailUnderWay keepsMails={keepsMails} />
        <div className="actions">
          {pending && <SendAgain className="secondary" />}
          <a href={emailPage}>Use another address</a>
          <a href="/profile">Go to your profile</a>
        </div>
      </div>
    </Page>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { emailPage, sayCodeFactors } from '../components/account/account-pages.ts';
import { SendAgain } from '../components/account/email-address.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/field.tsx';
import { MailSentBefore } from '../components/mail-sent-before.tsx';
import { Meant } from '../components/meant.tsx';
import { MailUnderWay, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, isAgain, loadAccount, requireNoAsks, text } from '../forms.ts';

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
    <Page title="Change your email address" intro={`It is ${email} now.`}>
      {refused?.minutes && <MailSentBefore minutes={refused.minutes} />}
      {refused?.message && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={here} className="card">
        <Field
          label="New email address"
          hint="We will send a link to it. Nothing changes before you use the link."
          name="email"
          type="email"
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

/** Who can undo the change, and what keeps a reader of the old mailbox from it. */
const TakeBack = ({ asksForFactor, isEstablished }: { asksForFactor: boolean; isEstablished: boolean }) => (
  <>
    <p>
      For seven days after the change, whoever reads the emails to your old address can take the account back.
      Only a passkey or {sayCodeFactors('one', ' or ')} keeps them from it: one that is at least a week old,
      or that you added in a browser we had known for a week.{' '}
      <strong>
        {asksForFactor
          ? 'You have one that counts, so they cannot do it without that.'
          : 'You have none that counts now.'}
      </strong>
    </p>
    <p>
      {isEstablished
        ? `This browser counts, so a passkey or ${sayCodeFactors('brief', ' or ')} that you add here protects you at once.`
        : `We have known this browser for less than a week, so a passkey or ${sayCodeFactors('brief', ' or ')} that you add here protects you only after a week, or up to two if you add something else in between.`}
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
          {pending && <SendAgain className="secondary" />}
          <a href={emailPage}>Use another address</a>
          <a href="/profile">Go to your profile</a>
        </div>
      </div>
    </Page>
  );
}

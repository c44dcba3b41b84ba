import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import {
  AskForLink,
  ButtonLink,
  DeadLink,
  type Ended,
  EndedLink,
  LogInElsewhere,
} from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, refuseForm } from '../forms.ts';
import { loadOwnAddress, otherLoginPath } from '../log-in-first.ts';

export const meta = titled('Confirm your new email address');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { email: present } = await loadOwnAddress({ request, context }, 'other-browser');
  const change = await context.procedures.email.findChange({ token: tokenOf(request, context) });
  const ended = await explainLink({ request, context }, 'change_email', change !== null);
  const otherLogin = otherLoginPath(request);
  return data({ present, change, ended, otherLogin }, { status: change ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    needsNoFields: true,
    async act(_form, procedures) {
      const done = await procedures.email.confirmChange({ token: tokenOf(args.request, args.context) });
      if (done === 'taken') throw refuseForm('taken');
      return '/profile?saved=email-changed';
    },
  });

export const headers = noReferrer;

export default function ConfirmNewEmail() {
  const { present, change, ended, otherLogin } = useLoaderData<typeof loader>();
  const here = useFormAction();
  if (!change) return <Dead present={present} link={ended} otherLogin={otherLogin} />;
  if (change.isTaken) return <Taken present={present} email={change.email} />;
  return (
    <Page title="Confirm your new email address">
      <form method="post" action={here} className="card">
        <p>
          Your email address is <strong>{present}</strong>. Change it to <strong>{change.email}</strong>?
        </p>
        <p className="hint">
          You will log in with the new address. We will send an email to the old one, with a link that can
          undo the change for 7 days.
        </p>
        <div className="actions">
          <button type="submit">Yes, change it</button>
          <a href="/profile">Keep the old address</a>
        </div>
      </form>
    </Page>
  );
}

function Taken({ present, email }: { present: string; email: string }) {
  return (
    <DeadLink
      title="This address is already in use"
      actions={
        <>
          <ButtonLink href="/profile/email">Change your address</ButtonLink>
          <a href="/profile">Go to your profile</a>
        </>
      }
    >
      Another account already uses <strong>{email}</strong>. You are logged in as <strong>{present}</strong>.
    </DeadLink>
  );
}

type DeadProps = { present: string; link: Ended; otherLogin: string };

function Dead({ present, link, otherLogin }: DeadProps) {
  const change = <ButtonLink href="/profile/email">Change your address</ButtonLink>;
  const profile = <ButtonLink href="/profile">Go to your profile</ButtonLink>;
  return (
    <EndedLink
      link={link}
      says={{ used: 'You have already changed your address with it.' }}
      next={({ fate, email }) => {
        if (fate === 'other_account') return <LogInElsewhere href={otherLogin} />;
        // The profile shows the pending email address, and a button that sends the mail again.
        if (fate === 'used' || fate === 'newer_link') return profile;
        if (fate === 'expired' || fate === 'withdrawn')
          return <AskForLink action="/profile/email" fields={{ email }} email={email} />;
        return change;
      }}
      otherwise={change}
    >
      {' '}
      You are logged in as <strong>{present}</strong>.
    </EndedLink>
  );
}

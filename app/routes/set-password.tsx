import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { AlreadyHasAccount } from '../components/already-has-account.tsx';
import { AskForLink, ButtonLink, type Ended, EndedLink, LogInLink } from '../components/dead-link.tsx';
import { NewPassword, TooManyPasswords } from '../components/new-password.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, refuseForm, text } from '../forms.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Set your password');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const token = tokenOf(request, context);
  const mail = await context.procedures.passwordMail.find({ token });
  const ended = await explainLink({ request, context }, 'set_password', mail !== null);
  return data({ mail, ended, next: nextOf(request, context) }, { status: mail ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const { request, context } = args;
      const passkey = form.get('passkey');
      const credential = passkey === undefined ? { newPassword: text(form, 'newPassword') } : { passkey };
      const done = await procedures.passwordMail.use({ token: tokenOf(request, context), ...credential });
      if (done === 'taken') throw refuseForm('taken');
      const home = passkey === undefined ? '/profile?saved=password-set' : '/profile/passkeys?saved=added';
      const target = nextOf(request, context) ?? home;
      // The page that asks for the code says that the password is saved.
      return done === 'code_needed' ? `${withNext('/login/code', target)}&new_password` : target;
    },
  });

export const headers = noReferrer;

export default function SetPassword() {
  const { mail, ended, next } = useLoaderData<typeof loader>();
  const errors = useRefused()?.errors ?? {};
  const here = useFormAction();
  if (!mail) return <Dead link={ended} next={next} />;
  const { email, sets } = mail;
  if (sets === 'taken') return <AlreadyHasAccount email={email} />;
  return (
    <Page title="Set your password" intro={`For ${email}`}>
      <TooManyPasswords>{mail.mayBePasskey && <li>create a passkey instead, below</li>}</TooManyPasswords>
      {errors.passkey && <Notice kind="error">{errors.passkey}</Notice>}
      <form method="post" action={here} className="card">
        <NewPassword email={email} />
        <p className="hint">This will log you in here and log you out everywhere else.</p>
        <button type="submit">Set password</button>
      </form>
      {mail.mayBePasskey && (
        <PasskeyForm
          purpose="arrive"
          name="passkey"
          action={here}
          className="aside"
          otherwise="set a password"
        >
          <p>Or log in with your fingerprint, face or screen lock, without a password:</p>
          <button type="submit" className="secondary">
            Create a passkey instead
          </button>
        </PasskeyForm>
      )}
    </Page>
  );
}

function Dead({ link, next }: { link: Ended; next: string | undefined }) {
  const ask = withNext('/forgot-password', next);
  return (
    <EndedLink
      link={link}
      says={{
        used: 'You used it to set a password or add a passkey. You can now log in with that.',
        password_set:
          'Your password has been set or changed since we sent it. Log in with your new password.',
        passkey_added: 'You have added a passkey since we sent it. Log in with your passkey.',
      }}
      next={({ fate, email }) =>
        fate === 'expired' || fate === 'withdrawn' || fate === 'over' ? (
          <AskForLink action={ask} fields={{ email }} email={email} />
        ) : (
          <LogInLink href={withNext('/login', next)} />
        )
      }
      otherwise={<ButtonLink href={ask}>Get a new link</ButtonLink>}
    />
  );
}

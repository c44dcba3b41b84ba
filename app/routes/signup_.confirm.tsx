import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { AlreadyHasAccount } from '../components/already-has-account.tsx';
import { AskForLink, ButtonLink, type Ended, EndedLink, LogInLink } from '../components/dead-link.tsx';
import { Field } from '../components/field.tsx';
import { NewPassword, TooManyPasswords } from '../components/new-password.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, refuseForm, text } from '../forms.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Create your account');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, site } = context;
  const next = nextOf(request, context);
  const signUp = await procedures.signUp.find({ token: tokenOf(request, context) });
  const ended = await explainLink({ request, context }, 'sign_up', signUp !== null);
  const clientTitle = site.findLaunchTitle(next);
  return data({ signUp, ended, next, clientTitle }, { status: signUp ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['name'],
    async act(form, procedures) {
      const { request, context } = args;
      const passkey = form.get('passkey');
      const credential = passkey === undefined ? { newPassword: text(form, 'newPassword') } : { passkey };
      const given = { token: tokenOf(request, context), name: text(form, 'name'), ...credential };
      if ((await procedures.signUp.confirm(given)) === 'taken') throw refuseForm('taken');
      return nextOf(request, context) ?? '/profile?saved=signed-up';
    },
  });

export const headers = noReferrer;

export default function ConfirmSignUp() {
  const { signUp, ended, next, clientTitle } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const here = useFormAction();
  if (!signUp) return <Dead link={ended} next={next} />;
  if (signUp.isTaken) return <AlreadyHasAccount email={signUp.email} />;
  return (
    <Page title="Create your account" intro={`For ${signUp.email}`}>
      <TooManyPasswords>
        <li>create a passkey instead, below</li>
      </TooManyPasswords>
      {refused?.errors.passkey && <Notice kind="error">{refused.errors.passkey}</Notice>}
      <form method="post" action={here} className="card">
        <Field
          label="Name"
          name="name"
          autoComplete="name"
          required
          defaultValue={refused?.values.name ?? signUp.name}
          error={refused?.errors.name}
        />
        <NewPassword email={signUp.email} label="Password" autoFocus={!refused?.errors.name} />
        {clientTitle && <p className="hint">You will then go on to {clientTitle}.</p>}
        <button type="submit">Create account</button>
      </form>
      <PasskeyForm purpose="arrive" name="passkey" action={here} className="aside" otherwise="set a password">
        <input type="hidden" name="name" data-as-typed="" />
        <p>Or log in with your fingerprint, face or screen lock, without a password:</p>
        <button type="submit" className="secondary">
          Create a passkey instead
        </button>
      </PasskeyForm>
    </Page>
  );
}

function Dead({ link, next }: { link: Ended; next: string | undefined }) {
  const ask = withNext('/signup', next);
  return (
    <EndedLink
      link={link}
      says={{ used: 'You created your account with it.' }}
      next={({ fate, email, name }) =>
        fate === 'expired' || fate === 'withdrawn' ? (
          <AskForLink action={ask} fields={{ name, email }} email={email} />
        ) : (
          <LogInLink href={withNext('/login', next)} />
        )
      }
      otherwise={<ButtonLink href={ask}>Get a new link</ButtonLink>}
    />
  );
}

import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { AlreadyHasAccount } from '../components/already-has-account.tsx';
import { EndedLink, LogInLink } from '../components/dead-link.tsx';
import { Field } from '../components/field.tsx';
import { NewPassword, TooManyPasswords } from '../components/new-password.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, refuseForm, text } from '../forms.ts';
import { withNext } from '../next.ts';

export const meta = titled('Accept the invitation');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const invitation = await context.procedures.invitation.find({ token: tokenOf(request, context) });
  const ended = await explainLink({ request, context }, 'invitation', invitation !== null);
  return data({ invitation, ended }, { status: invitation ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['name'],
    async act(form, procedures) {
      const token = tokenOf(args.request, args.context);
      const given = { token, name: text(form, 'name'), newPassword: text(form, 'newPassword') };
      if ((await procedures.invitation.take(given)) === 'taken') throw refuseForm('taken');
      return withNext('/profile/authenticator', '/admin');
    },
  });

export const headers = noReferrer;

export default function AcceptInvitation() {
  const { invitation, ended } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const here = useFormAction();
  if (!invitation)
    return (
      <EndedLink
        link={ended}
        says={{
          used: 'You created your account with it.',
          expired: 'An invitation works for 24 hours. Ask the person who invited you for a new one.',
          newer_link: 'You were invited again. Use the link in our latest email.',
          withdrawn: 'The invitation was withdrawn. If you do not know why, ask the person who invited you.',
          over: 'The invitation has ended. Ask the person who invited you for a new one.',
        }}
        otherwise={<LogInLink href="/login" />}
      />
    );
  const { email, isTaken, role } = invitation;
  if (isTaken) return <AlreadyHasAccount email={email} />;
  return (
    <Page
      title="Accept the invitation"
      intro={`To be ${role === 'admin' ? 'an administrator' : 'a manager'}, as ${email}`}
    >
      <TooManyPasswords />
      <form method="post" action={here} className="card">
        <p>
          First create your account. On the next page you set up a second factor, an authenticator app or a
          passkey. Then you get the role.
        </p>
        <Field
          label="Name"
          name="name"
          autoComplete="name"
          required
          autoFocus={!refused?.errors.newPassword}
          defaultValue={refused?.values.name}
          error={refused?.errors.name}
        />
        <NewPassword email={email} label="Password" autoFocus={refused?.errors.newPassword !== undefined} />
        <button type="submit">Create account</button>
      </form>
    </Page>
  );
}

import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { tokenOf } from '../answers.ts';
import { DeadLink } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, loadOwnAddress, refuseForm } from '../forms.ts';

/** The page's form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = titled('Confirm your new email address');

/** Only looks: programs that open links in emails must not use them up. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { email: present } = await loadOwnAddress({ request, context }, 'other-browser');
  const change = await context.procedures.email.findChange({ token: tokenOf(request, context) });
  return data({ present, change }, { status: change ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(_form, procedures) {
      const done = await procedures.email.confirmChange({ token: tokenOf(args.request, args.context) });
      if (done === 'taken') throw refuseForm('taken');
      return '/profile?saved=email-changed';
    },
  });

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });

export default function ConfirmNewEmail() {
  const { present, change } = useLoaderData<typeof loader>();
  const here = useFormAction();
  if (!change || change.isTaken) return <Dead present={present} taken={change?.email} />;
  return (
    <Page title="Confirm your new email address">
      <form method="post" action={here} className="card">
        <p>
          Your email address is <strong>{present}</strong>. Change it to <strong>{change.email}</strong>?
        </p>
        <p className="hint">
          You will log in with the new address. We will email the old one. For 7 days, the link in that email
          can undo the change.
        </p>
        <div className="actions">
          <button type="submit">Yes, change it</button>
          <a href="/profile">Keep the old one</a>
        </div>
      </form>
    </Page>
  );
}

function Dead({ present, taken }: { present: string; taken: string | undefined }) {
  const actions = (
    <>
      <a className="button" href="/profile/email">
        Change your address
      </a>
      <a href="/profile">Go to your profile</a>
    </>
  );
  return (
    <DeadLink title={taken && 'This address is in use'} actions={actions}>
      {taken ? (
        <>
          Another account already uses <strong>{taken}</strong>.
        </>
      ) : (
        'It has been used, is too old, or is for another account.'
      )}{' '}
      You are logged in as <strong>{present}</strong>.
    </DeadLink>
  );
}

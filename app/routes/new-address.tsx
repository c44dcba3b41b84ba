import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { AlreadyHasAccount } from '../components/already-has-account.tsx';
import { ButtonLink, type Ended, EndedLink } from '../components/dead-link.tsx';
import { LeftFactorForm } from '../components/left-factor-form.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm, refuseForm, text } from '../forms.ts';

export const meta = titled('Use this email address');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, site } = context;
  const page = await procedures.newAddress.find({ token: tokenOf(request, context) });
  const { supportUrl } = site;
  const ended = await explainLink({ request, context }, 'new_address', page !== null);
  return data({ page, ended, supportUrl }, { status: page ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const done = await procedures.newAddress.use({
        token: tokenOf(args.request, args.context),
        newPassword: text(form, 'newPassword'),
        code: form.get('code'),
        passkey: form.get('passkey'),
      });
      if (done === 'taken') throw refuseForm('taken');
      return '/profile?saved=email-changed';
    },
  });

export const headers = noReferrer;

export default function NewAddress() {
  const { page, ended, supportUrl } = useLoaderData<typeof loader>();
  if (!page) return <Dead link={ended} supportUrl={supportUrl} />;
  const { email, isTaken, removesFactors, asks } = page;
  if (isTaken) return <AlreadyHasAccount email={email} />;
  return (
    <Page title="Use this email address" intro={`For ${email}`}>
      <LeftFactorForm
        purpose="new-address"
        email={email}
        asks={asks}
        act="Use this email address"
        toAct="To use this email address"
        meanwhile={
          supportUrl && (
            <li>
              <a className="alone" href={supportUrl}>
                contact support
              </a>
            </li>
          )
        }
      >
        <p>
          Set a new password that only you know. Your account will have this email address from now on. You
          will be logged in here, and everyone else will be logged out.
          {removesFactors && ' Its authenticator app, recovery codes and passkeys will be removed.'}
        </p>
      </LeftFactorForm>
    </Page>
  );
}

function Dead({ link, supportUrl }: { link: Ended; supportUrl: string | undefined }) {
  return (
    <EndedLink
      link={link}
      says={{
        used: 'You used it to set a password. Log in with this email address and that password.',
        expired:
          'It worked for 24 hours after our support team was asked. The email address has not changed.',
        canceled:
          'Someone who reads email at the present address of the account has stopped the change. The email address has not changed.',
      }}
      otherwise={<ButtonLink href="/login">Log in</ButtonLink>}
    >
      {supportUrl && (
        <>
          {' '}
          If you still cannot log in, <a href={supportUrl}>contact support</a>.
        </>
      )}
    </EndedLink>
  );
}

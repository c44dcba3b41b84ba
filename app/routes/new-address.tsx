import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { AlreadyHasAccount } from '../components/already-has-account.tsx';
import { ButtonLink, EndedLink } from '../components/dead-link.tsx';
import { LeftFactorForm } from '../components/left-factor-form.tsx';
import { isAboutPasswords, TooManyPasswords } from '../components/new-password.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, refuseForm, text } from '../forms.ts';

export const meta = titled('Use this email address');

/** Only looks: programs that open links in emails must not use them up. */
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

/** The token in this page's address must not leak through a Referer. */
export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => noReferrer(actionHeaders);

export default function NewAddress() {
  const { page, ended, supportUrl } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (!page) return <Dead link={ended} supportUrl={supportUrl} />;
  const { email, isTaken, asks } = page;
  if (isTaken) return <AlreadyHasAccount email={email} />;
  const isForGood = refused?.message !== undefined;
  return (
    <Page title="Use this email address" intro={`For ${email}`}>
      <TooManyPasswords />
      {refused?.minutes && !isAboutPasswords(refused) && (
        <TooMany
          about={isForGood ? 'Too many wrong codes have been entered with this link.' : undefined}
          minutes={isForGood ? undefined : refused.minutes}
          meanwhile={isForGood ? 'You can still:' : undefined}
        >
          {asks?.passkey && <li>use your passkey</li>}
          {supportUrl && (
            <li>
              <a className="alone" href={supportUrl}>
                contact support
              </a>
            </li>
          )}
        </TooMany>
      )}
      <LeftFactorForm
        purpose="new-address"
        email={email}
        asks={asks}
        act="Use this email address"
        toAct="To use this email address"
      >
        <p>
          Set a new password that only you know. Your account will have this email address from now on. You
          will be logged in here, and everyone else will be logged out.
        </p>
      </LeftFactorForm>
    </Page>
  );
}

type DeadProps = {
  link: ReturnType<typeof useLoaderData<typeof loader>>['ended'];
  supportUrl: string | undefined;
};

function Dead({ link, supportUrl }: DeadProps) {
  const logIn = <ButtonLink href="/login">Log in</ButtonLink>;
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
      next={() => logIn}
      otherwise={logIn}
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

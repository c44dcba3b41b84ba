import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { sayCodeFactors } from '../components/account/account-pages.ts';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { TakeBackHint } from '../components/take-back-hint.tsx';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, refuseForm, text } from '../forms.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Enter your code');

/**
 * Where a login with a recovery code leads. Most people who use a recovery code have lost their phone. On that page they can
 * set up the app again.
 */
const homeAfterRecovery = '/profile/authenticator?recovered';

const usesRecovery = (request: Request, { transport }: LoaderFunctionArgs['context']) =>
  transport.readQuery(request).get('use') === 'recovery';

/** Shows the page only in a browser in which a password has just been given. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const next = nextOf(request, context);
  const pending = await procedures.login.pending();
  const visitor = await procedures.visitor.find();
  // Only somebody who has given the password may try a code. If a client needs a code, people whose session began with a
  // hand-off must give their password first.
  if (!pending && next && visitor?.owesCode)
    throw redirect(withNext('/login?prompt=login&why=asked-again', next), 303);
  if (!pending) throw redirect(transport.loginPathTo(next), 303);
  return {
    next,
    usesRecovery: usesRecovery(request, context),
    hasNewPassword: transport.readQuery(request).has('new_password'),
    codeFactors: pending.codeFactors,
    takeBackSentAt: pending.takeBackSentAt,
    // Without `prompt=login`, the login page would send people who have a session to the launch, which leads back here.
    loginPath: withNext(visitor ? '/login?prompt=login' : '/login', next),
    clientTitle: site.findLaunchTitle(next),
    supportUrl: site.supportUrl,
  };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const { request, context } = args;
      const next = nextOf(request, context);
      const outcome = await procedures.login.byCode({ code: text(form, 'code') });
      if (outcome === 'gone') throw redirect(context.transport.loginPathTo(next), 303);
      if (outcome !== 'done') throw refuseForm(outcome === 'other_time' ? outcome : 'wrong_code');
      const goesHome = next === undefined || next === '/profile';
      return goesHome ? (usesRecovery(request, context) ? homeAfterRecovery : '/profile') : next;
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const faults = new Map([
  ['wrong_code', 'This code is wrong or has already been used. Enter another one.'],
  [
    'other_time',
    'This code is for another time, so the clock on your phone may be off. Set the date and time on your phone to automatic, and enter the code that the app shows then.',
  ],
]);

export default function Code() {
  const {
    next,
    usesRecovery,
    hasNewPassword,
    codeFactors,
    takeBackSentAt,
    loginPath,
    clientTitle,
    supportUrl,
  } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const error = refused && faults.get(refused.code);
  return (
    <Page
      title={usesRecovery ? 'Enter a recovery code' : 'Enter your code'}
      intro={clientTitle ? `To continue to ${clientTitle}` : 'One more step to log in'}
    >
      {hasNewPassword && !refused && <Notice kind="success">Your new password has been saved.</Notice>}
      {refused?.minutes && (
        <TooMany minutes={refused.minutes}>
          <li>log in with a browser that you have used for this account before</li>
          <li>
            <a className="alone" href={loginPath}>
              log in with a passkey
            </a>
          </li>
          <li>
            <a href={withNext('/forgot-password', next)}>set a new password by email</a> first
          </li>
        </TooMany>
      )}
      {takeBackSentAt && <TakeBackHint sentAt={takeBackSentAt} />}
      <form method="post" action={useFormAction()} className="card">
        {usesRecovery ? (
          <Field
            label="Recovery code"
            hint="One of the 10 codes you saved when you set up the app, such as 7k2m-0qfx-w9zd. Each code works once."
            name="code"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
            autoFocus
            error={error}
          />
        ) : (
          <Field
            label={`Code from ${sayCodeFactors('yours', ' or ', codeFactors)}`}
            hint={sayCodeFactors('hint', ' ', codeFactors)}
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            autoFocus
            error={error}
          />
        )}
        <button type="submit">Log in</button>
      </form>
      <p className="aside">
        {usesRecovery ? (
          <a href={withNext('/login/code', next)}>
            Use {sayCodeFactors('yours', ' or ', codeFactors)} instead
          </a>
        ) : (
          <a href={withNext('/login/code?use=recovery', next)}>
            Don’t have {sayCodeFactors('thing', ' or ', codeFactors)}? Use a recovery code
          </a>
        )}
      </p>
      <p className="aside">
        <a href={loginPath}>Back to login</a>
      </p>
      {usesRecovery && (
        <p className="aside">
          Lost your recovery codes as well?
          <br />
          {supportUrl ? <a href={supportUrl}>Contact support</a> : 'Contact the people who run this service.'}
          <br />
          Once they know that it is you, they remove your app, your recovery codes and your passkeys. Your
          password stops working, and you are logged out everywhere. You get an email with a link to set a new
          password.
        </p>
      )}
    </Page>
  );
}

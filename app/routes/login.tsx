import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { EmailField, Field } from '../components/field.tsx';
import { Logo } from '../components/logo.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { PasskeySignals } from '../components/passkey-signals.tsx';
import { useRefused } from '../components/refused.ts';
import { ServiceName, titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, refuseForm, text } from '../forms.ts';
import { leadPast, nextOf, withNext } from '../next.ts';

export const meta = titled('Log in');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const query = transport.readQuery(request);
  const visitor = await procedures.visitor.find();
  const mustAsk = query.get('prompt') === 'login';
  const next = nextOf(request, context);
  const why = query.get('why');
  // The browser now sends cookies back, so there is nothing to explain. People go on to where they wanted to go.
  if (why === 'no-cookies' && next && context.sendsCookies && context.method !== 'POST')
    throw redirect(leadPast(next, request, context), 303);
  // After a POST, the page says why the login was refused, even to people who are logged in already.
  if (visitor && !mustAsk && context.method !== 'POST' && !context.refused)
    throw redirect(leadPast(next ?? '/profile', request, context), 303);
  return {
    next,
    email: visitor?.email ?? site.findLoginHint(next),
    clientTitle: site.findLaunchTitle(next),
    clientLogo: site.findLaunchLogo(next),
    isConnecting: next?.startsWith('/continue?'),
    hasLoggedOut: query.has('logged_out'),
    why: why === 'no-cookies' && context.sendsCookies ? null : why,
    demo: site.demoLogins,
    signUp: site.signUp,
    supportUrl: site.supportUrl,
  };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['email'],
    async act(form, procedures) {
      const { request, context } = args;
      const email = text(form, 'email');
      const passkey = form.get('passkey');
      const target = nextOf(request, context) ?? '/profile';
      // If the client needs a second factor, its launch asks for one. So the login offers no passkey before such a launch.
      const isOffered = form.get('can_add_passkey') === 'yes' && !context.site.launchNeedsFactor(target);
      const offer = isOffered ? { next: target } : undefined;
      const outcome =
        passkey === undefined
          ? await procedures.login.byPassword({ email, password: text(form, 'password'), offer })
          : await procedures.login.byPasskey({ passkey });
      if (outcome === 'done') return target;
      if (outcome === 'passkey_offered') return withNext('/profile/passkeys/offer', target);
      if (outcome === 'code_needed') return withNext('/login/code', target);
      throw refuseForm(outcome);
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const wrongPasskey = 'We could not log you in with that passkey. Try again, or use your password.';

const wrong = new Map([
  ['wrong_login', 'The email address or password is incorrect. Check them and try again.'],
  ['wrong_passkey', wrongPasskey],
  ['unknown_passkey', wrongPasskey],
]);

/** Why the login page appears (contract 9.177). */
const reasons = new Map([
  ['ended', 'You have been logged out. Log in to continue where you left off.'],
  ['other-browser', 'To continue in this browser, log in first.'],
  [
    'no-cookies',
    'Your browser did not keep our cookies, so you are not logged in. Allow cookies for this site, then log in again.',
  ],
  ['asked-again', 'You are already logged in. The product is asking you to confirm that it is you.'],
]);

/**
 * Adds `with=passkey` to the path of a login with a passkey. Even while the service can hash no more passwords, it accepts
 * passkeys at a path with this parameter (contract 9.155). At such a path it refuses passwords.
 */
const withPasskey = (path: string) => `${path}${path.includes('?') ? '&' : '?'}with=passkey`;

/** Removes `with=passkey`, which is still in the page's URL after a refused passkey. */
const withoutMark = (path: string) => path.replace(/([?&])with=passkey(?:&|$)/, '$1').replace(/[?&]$/, '');

export default function Login() {
  const { next, email, clientTitle, clientLogo, isConnecting, hasLoggedOut, why, demo, signUp, supportUrl } =
    useLoaderData<typeof loader>();
  const refused = useRefused();
  const reason = !refused && reasons.get(why ?? '');
  const here = withoutMark(useFormAction());
  return (
    <Page
      title={clientTitle ? `Continue to ${clientTitle}` : 'Log in'}
      intro={
        clientTitle ? (
          <>
            Log in with your <ServiceName /> account
          </>
        ) : isConnecting ? (
          'To connect your marketplace account'
        ) : (
          'Use one account for all our products'
        )
      }
    >
      {clientLogo.logoPath && (
        <div className="client-logo">
          <Logo {...clientLogo} />
        </div>
      )}
      {hasLoggedOut && !refused && <Notice kind="success">You have logged out.</Notice>}
      {refused?.minutes && (
        // The page says the same about a known and an unknown email address.
        <TooMany minutes={refused.minutes} meanwhile="Until then, you can still:">
          <li>log in with a browser that you have used for this account before</li>
          <li>use a passkey</li>
          <li>
            <a className="alone" href={withNext('/forgot-password', next)}>
              set a new password by email
            </a>
          </li>
        </TooMany>
      )}
      {refused && !refused.minutes && <Notice kind="error">{wrong.get(refused.code)}</Notice>}
      {reason && <Notice kind="info">{reason}</Notice>}
      <form method="post" action={here} className="card">
        <EmailField
          label="Email address"
          name="email"
          autoComplete="username webauthn"
          required
          autoFocus={!refused}
          defaultValue={refused?.values.email || email}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          autoFocus={Boolean(refused)}
        />
        {/* app/passkeys/forms.ts fills in this field. */}
        <input type="hidden" name="can_add_passkey" data-can-add-passkey="" />
        <button type="submit">Log in</button>
      </form>
      <PasskeyForm
        purpose="login"
        name="passkey"
        action={withPasskey(here)}
        className="aside"
        otherwise="log in with your password"
      >
        <button type="submit" className="secondary">
          Use a passkey
        </button>
      </PasskeyForm>
      {refused?.code === 'unknown_passkey' && <PasskeySignals />}
      <p className="aside">
        <a href={withNext('/forgot-password', next)}>Forgot your password, or don’t have one yet?</a>
      </p>
      <p className="aside">
        {signUp === 'open' ? (
          <>
            New here? <a href={withNext('/signup', next)}>Create an account</a>
          </>
        ) : (
          <>
            You cannot create an account here yourself.
            {supportUrl && (
              <>
                {' '}
                <a href={supportUrl}>Contact support</a> to get one.
              </>
            )}
          </>
        )}
      </p>
      {demo && <DemoLogins {...demo} />}
    </Page>
  );
}

type DemoLoginsProps = { password: string; users: { email: string; about: string }[] };

/** Shown only in local mode. */
function DemoLogins({ password, users }: DemoLoginsProps) {
  return (
    <details className="demo-logins" open data-demo-password={password}>
      <summary>Local mode: demo users</summary>
      <p>
        Password for all demo users: <code>{password}</code>
      </p>
      <ul>
        {users.map((user) => (
          <li key={user.email}>
            {/* The style sheet shows this button only if the page runs script. app/enhance.js makes it work. */}
            <code>{user.email}</code>
            <button type="button" className="secondary" data-demo-email={user.email}>
              {user.email}
            </button>{' '}
            <span className="hint">{user.about}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

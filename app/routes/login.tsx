import {
  type ActionFunctionArgs,
  data,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { OtherWaysIn } from '../components/other-ways-in.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { ServiceName, titled } from '../components/service-name.ts';
import { nextOf, withNext } from '../next.ts';

/** The page's form is the browser's own, and works before a script could have loaded. The only script is that of passkeys. */
export const handle = { isStatic: true };

export const meta = titled('Log in');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const query = transport.readQuery(request);
  const visitor = await procedures.visitor.find();
  const mustAsk = query.get('prompt') === 'login';
  const next = nextOf(request, context);
  // After a POST the login was refused, and the page says so even to somebody who is logged in.
  if (visitor && !mustAsk && context.method !== 'POST') throw redirect(next ?? '/profile', 303);
  return {
    next,
    email: visitor?.email,
    clientTitle: site.findLaunchTitle(next),
    clientLogo: site.findLaunchLogo(next),
    hasLoggedOut: query.has('logged_out'),
    demo: site.demoLogins,
    signUp: site.signUp,
    supportUrl: site.supportUrl,
  };
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const email = form.get('email') ?? '';
  const password = form.get('password') ?? '';
  const passkey = form.get('passkey');
  try {
    const outcome =
      passkey === undefined
        ? await procedures.login.byPassword({ email, password })
        : await procedures.login.byPasskey({ passkey });
    const target = nextOf(request, context) ?? '/profile';
    if (outcome === 'done') return redirectDocument(target, 303);
    if (outcome === 'code_needed') return redirectDocument(withNext('/login/code', target), 303);
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (refusal.code !== 'rate_limited') throw error;
    // /forgot-password takes the address from there.
    if (email) await procedures.login.keepTypedEmail({ email });
    const waitSeconds = Number(refusal.headers['Retry-After']);
    return data(
      { email, message: refusal.detail, waitSeconds },
      { status: refusal.status, headers: refusal.headers },
    );
  }
  const message =
    passkey === undefined
      ? 'The email address or password is incorrect. Check them and try again.'
      : 'We could not log you in with that passkey. Try again, or use your password.';
  return data({ email, message, waitSeconds: undefined }, { status: 401 });
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function Login() {
  const { next, email, clientTitle, clientLogo, hasLoggedOut, demo, signUp, supportUrl } =
    useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  return (
    <Page
      title={clientTitle ? `Continue to ${clientTitle}` : 'Log in'}
      intro={clientTitle ? <WithOurLogin /> : 'Use one login for all our products'}
    >
      {clientLogo && <img className="client-logo" src={clientLogo} alt="" />}
      {hasLoggedOut && !refused && <Notice kind="success">You have logged out.</Notice>}
      {refused?.waitSeconds && <OtherWaysIn waitSeconds={refused.waitSeconds} next={next} />}
      {refused && !refused.waitSeconds && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={here} className="card">
        <Field
          label="Email address"
          name="email"
          type="email"
          autoComplete="username webauthn"
          required
          autoFocus={!refused}
          defaultValue={refused?.email || email}
        />
        <Field
          key={refused?.message}
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          autoFocus={Boolean(refused)}
        />
        <button type="submit">Log in</button>
      </form>
      <PasskeyForm
        purpose="login"
        name="passkey"
        action={here}
        className="aside"
        otherwise="log in with your password"
      >
        <button type="submit" className="secondary">
          Use a passkey
        </button>
      </PasskeyForm>
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
            You cannot create an account here by yourself.
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

function WithOurLogin() {
  return (
    <>
      Log in with your <ServiceName /> account
    </>
  );
}

type DemoLoginsProps = { password: string; users: { email: string; about: string }[] };

/** Local mode only. */
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
            {/* The style sheet shows the button only if there is script, and app/enhance.js makes it work. */}
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

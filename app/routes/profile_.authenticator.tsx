import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { loginOr } from '../answers.ts';
import {
  AuthenticatorOff,
  AuthenticatorOn,
  AuthenticatorSure,
  RecoveryCodes,
  type SureOf,
} from '../components/account/authenticator.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf, withNext } from '../next.ts';

/** The page's forms are the browser's own: a page with a secret is better not kept by a script. */
export const handle = { isStatic: true };

export const meta = titled('Authenticator app');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const next = nextOf(request, context);
  try {
    const described = await procedures.authenticator.describe();
    // No other page is open to these people before they have gone on.
    const goOn = new Map([['intent', 'go-on']] as const);
    return {
      ...described,
      asks: described.mustUsePasskey
        ? (await procedures.confirm.askWhileSettingUp({ form: goOn })).asks
        : undefined,
      next,
      nextTitle: site.findLaunchTitle(next),
      /** What the user is asked about once more. */
      sure: described.isOn ? readSure(transport.readQuery(request).get('sure')) : undefined,
      isTurnedOff: transport.readQuery(request).has('off'),
      hasRecovered: transport.readQuery(request).has('recovered'),
    };
  } catch (error) {
    throw loginOr(error, context, transport.loginPath(request));
  }
}

/** What is asked about once more before it is done. */
const readSure = (text: string | null | undefined): SureOf | undefined =>
  text === 'turn-off' || text === 'renew-codes' ? text : undefined;

const counted = new Map([
  ['set-up', 'authenticator.added'],
  ['renew-codes', 'recovery_codes.made'],
] as const) as ReadonlyMap<string, 'authenticator.added' | 'recovery_codes.made'>;

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport } = context;
  const form = await transport.readForm(request);
  try {
    const { asks } = await procedures.confirm.askWhileSettingUp({
      form,
      change: counted.get(form.get('intent') ?? ''),
    });
    if (asks) return data({ asks }, { status: 401 });
    const sure = readSure(form.get('intent'));
    if (sure && form.get('sure') !== 'yes')
      return redirectDocument(withNext(`/profile/authenticator?sure=${sure}`, nextOf(request, context)), 303);
    switch (form.get('intent')) {
      case 'go-on':
        return redirectDocument(nextOf(request, context) ?? '/profile', 303);
      case 'set-up':
        await procedures.authenticator.startSetUp();
        return redirectDocument(withNext('/profile/authenticator/set-up', nextOf(request, context)), 303);
      case 'renew-codes': {
        // They are shown this one time.
        const codes = await procedures.authenticator.renewCodes();
        return codes ? data({ codes }) : redirectDocument('/profile/authenticator', 303);
      }
      case 'turn-off':
        await procedures.authenticator.remove();
        return redirectDocument('/profile/authenticator?off', 303);
    }
  } catch (error) {
    const refusal = loginOr(error, context, transport.loginPath(request));
    if (refusal instanceof Response || refusal.code !== 'rate_limited') throw refusal;
    return data({ message: refusal.detail }, { status: refusal.status, headers: refusal.headers });
  }
  throw transport.invalidParameter('intent', 'It must be an action of this page.');
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function Authenticator() {
  const page = useLoaderData<typeof loader>();
  const done = useActionData<typeof action>();
  const asks = done && 'asks' in done ? done.asks : page.asks;
  if (asks) return <Confirm asks={asks} takeBackSentAt={page.takeBackSentAt} />;
  if (done && 'codes' in done)
    return <RecoveryCodes {...page} codes={done.codes} intro="The old ones no longer work." />;
  if (page.sure && page.isOn && !done) return <AuthenticatorSure {...page} {...page.isOn} sure={page.sure} />;
  return (
    <Page
      title="Authenticator app"
      intro="A second step at the login: your password, then a code from an app on your phone."
    >
      {done && 'message' in done && <Notice kind="error">{done.message}</Notice>}
      {page.isTurnedOff && !page.isOn && <Notice kind="success">The authenticator app is turned off.</Notice>}
      {page.hasRecovered && page.isOn && !done && (
        <Notice kind="info">
          You are logged in. If you lost your phone, turn off the app below, and set it up again on the new
          one. Also <a href="/profile/passkeys">remove the passkeys</a> that were on it.
        </Notice>
      )}
      {page.comesFirst && (
        <Notice kind="info">
          You are an administrator or manager, and need a second factor. Set up the app to go on
          {page.nextTitle && ` to ${page.nextTitle}`}, or <a href="/profile/passkeys">add a passkey</a>.
        </Notice>
      )}
      {page.isOn ? <AuthenticatorOn {...page} {...page.isOn} /> : <AuthenticatorOff {...page} />}
    </Page>
  );
}

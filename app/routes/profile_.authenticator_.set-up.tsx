import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { errorsOf, loginOr } from '../answers.ts';
import {
  AuthenticatorSetUp,
  AuthenticatorSetUpGone,
  RecoveryCodes,
} from '../components/account/authenticator.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf, withNext } from '../next.ts';

/** The page's form is the browser's own: a page with a secret is better not kept by a script. */
export const handle = { isStatic: true };

export const meta = titled('Set up the app');

const authenticatorPage = '/profile/authenticator';

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const next = nextOf(request, context);
  try {
    const { email, isRevocable, isOn } = await procedures.authenticator.describe();
    // After a POST this page shows the recovery codes.
    if (isOn && context.method !== 'POST') throw redirectDocument(withNext(authenticatorPage, next), 303);
    const setUp = isOn ? null : await procedures.authenticator.findSetUp();
    return { email, isRevocable, setUp, next, nextTitle: site.findLaunchTitle(next) };
  } catch (error) {
    throw loginOr(error, context, transport.loginPath(request));
  }
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const next = nextOf(request, context);
  try {
    const { asks } = await procedures.confirm.askWhileSettingUp({ form, change: 'authenticator.added' });
    if (asks) return data({ asks }, { status: 401 });
    const added = await procedures.authenticator.add({ code: form.get('code') ?? '' });
    if (added === 'on') return redirectDocument(withNext(authenticatorPage, next), 303);
    if (added === 'gone') return redirectDocument(withNext(`${authenticatorPage}/set-up`, next), 303);
    return data({ codes: added });
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (!['validation_failed', 'rate_limited'].includes(refusal.code))
      throw loginOr(error, context, transport.loginPath(request));
    const { status, headers, detail } = refusal;
    return data({ error: errorsOf(refusal).code, message: detail }, { status, headers });
  }
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function SetUp() {
  const { setUp, ...page } = useLoaderData<typeof loader>();
  const done = useActionData<typeof action>();
  if (done && 'asks' in done) return <Confirm asks={done.asks} />;
  if (done && 'codes' in done)
    return <RecoveryCodes {...page} codes={done.codes} intro="The authenticator app is on." />;
  if (!setUp) return <AuthenticatorSetUpGone next={page.next} />;
  const refused = done && 'message' in done ? done : undefined;
  return (
    <AuthenticatorSetUp {...page} setUp={setUp} error={refused?.error}>
      {refused && !refused.error && <Notice kind="error">{refused.message}</Notice>}
    </AuthenticatorSetUp>
  );
}

import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import {
  AuthenticatorSetUp,
  AuthenticatorSetUpGone,
  RecoveryCodes,
} from '../components/account/authenticator.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, requireNoAsks, text } from '../forms.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Set up the app');

const authenticatorPage = '/profile/authenticator';

export async function loader({ request, context }: LoaderFunctionArgs) {
  const next = nextOf(request, context);
  return whenLoggedIn({ request, context }, async (procedures) => {
    const { email, isRevocable, isOn } = await procedures.authenticator.describe();
    // After a POST this page shows the recovery codes.
    if (isOn && context.method !== 'POST') throw redirect(withNext(authenticatorPage, next), 303);
    const setUp = isOn ? null : await procedures.authenticator.findSetUp();
    return { email, isRevocable, setUp, next, nextTitle: context.site.findLaunchTitle(next) };
  });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const next = nextOf(args.request, args.context);
      requireNoAsks(await procedures.confirm.askWhileSettingUp({ form, change: 'authenticator.added' }));
      const here = withNext(`${authenticatorPage}/set-up`, next);
      // The form had to wait for a credential, and its code was not kept. So people have to type a code again.
      if (!form.has('code')) return here;
      const added = await procedures.authenticator.add({ code: text(form, 'code') });
      if (added === 'on') return withNext(authenticatorPage, next);
      return added === 'gone' ? here : data({ codes: added });
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function SetUp() {
  const { setUp, ...page } = useLoaderData<typeof loader>();
  const done = useActionData<{ codes?: string[] }>();
  const refused = useRefused();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Turn on the app" />;
  if (done?.codes)
    return <RecoveryCodes {...page} codes={done.codes} intro="You have turned on the authenticator app." />;
  if (!setUp) return <AuthenticatorSetUpGone next={page.next} />;
  return (
    <AuthenticatorSetUp {...page} setUp={setUp} error={refused?.errors.code}>
      {refused?.minutes && <TooMany minutes={refused.minutes} />}
      {refused?.message && <Notice kind="error">{refused.message}</Notice>}
    </AuthenticatorSetUp>
  );
}

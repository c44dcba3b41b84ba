import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import {
  AuthenticatorOff,
  AuthenticatorOn,
  AuthenticatorSure,
  RecoveryCodes,
  type SureOf,
} from '../components/account/authenticator.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, requireNoAsks } from '../forms.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Authenticator app');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { transport, site } = context;
  const next = nextOf(request, context);
  const clientNeedsFactor = site.launchNeedsFactor(next);
  return whenLoggedIn({ request, context }, async (procedures) => {
    const described = await procedures.authenticator.describe({ clientNeedsFactor });
    // People who must give their second factor can open no other page before. So the form for the second factor is on this
    // page.
    const goOn = new Map([['intent', 'go-on']] as const);
    return {
      ...described,
      asks: described.mustUsePasskey
        ? (await procedures.confirm.askWhileSettingUp({ form: goOn, clientNeedsFactor })).asks
        : undefined,
      next,
      nextTitle: site.findLaunchTitle(next),
      clientNeedsFactor,
      sure: described.isOn ? readSure(transport.readQuery(request).get('sure')) : undefined,
      isTurnedOff: transport.readQuery(request).has('off'),
      hasRecovered: transport.readQuery(request).has('recovered'),
    };
  });
}

/** Before it makes one of these changes, the page asks whether people are sure. */
const readSure = (text: string | null | undefined): SureOf | undefined =>
  text === 'turn-off' || text === 'renew-codes' ? text : undefined;

const counted = new Map([
  ['set-up', 'authenticator.added'],
  ['renew-codes', 'recovery_codes.made'],
] as const) as ReadonlyMap<string, 'authenticator.added' | 'recovery_codes.made'>;

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['sure'],
    async act(form, procedures) {
      const { request, context } = args;
      const next = nextOf(request, context);
      const intent = form.get('intent');
      const clientNeedsFactor = intent === 'go-on' && context.site.launchNeedsFactor(next);
      const change = counted.get(intent ?? '');
      requireNoAsks(await procedures.confirm.askWhileSettingUp({ form, change, clientNeedsFactor }));
      const sure = readSure(intent);
      if (sure && form.get('sure') !== 'yes') return withNext(`/profile/authenticator?sure=${sure}`, next);
      switch (intent) {
        case 'go-on':
          return next ?? '/profile';
        case 'set-up':
          await procedures.authenticator.startSetUp();
          return withNext('/profile/authenticator/set-up', next);
        case 'renew-codes': {
          const codes = await procedures.authenticator.renewCodes();
          return codes ? data({ codes }) : '/profile/authenticator';
        }
        case 'turn-off':
          await procedures.authenticator.remove();
          return '/profile/authenticator?off';
      }
      throw context.transport.invalidParameter('intent', 'It must be an action of this page.');
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const buttons = new Map([
  ['set-up', 'Set up the app'],
  ['renew-codes', 'Make new recovery codes'],
  ['turn-off', 'Turn off the app'],
]);

/** For people who must give their second factor before anything else. */
const goOn = { values: { intent: 'go-on' } };

export default function Authenticator() {
  const page = useLoaderData<typeof loader>();
  const done = useActionData<typeof action>();
  const refused = useRefused();
  const asks = refused?.asks ?? page.asks;
  if (asks)
    return (
      <Confirm
        refused={refused ?? goOn}
        asks={asks}
        to={buttons.get(refused?.values.intent ?? '')}
        danger={refused?.values.intent === 'turn-off'}
        takeBackSentAt={page.takeBackSentAt}
      />
    );
  if (done && 'codes' in done)
    return <RecoveryCodes {...page} codes={done.codes} intro="Your old codes no longer work." />;
  const owesClient = page.clientNeedsFactor && !page.isFactorGiven && !page.isOn && !page.comesFirst;
  if (page.sure && page.isOn && !done) return <AuthenticatorSure {...page} {...page.isOn} sure={page.sure} />;
  return (
    <Page
      title="Authenticator app"
      intro="A second step when you log in: your password, then a code from an app on your phone."
    >
      {refused?.minutes && <TooMany minutes={refused.minutes} />}
      {refused?.message && <Notice kind="error">{refused.message}</Notice>}
      {page.isTurnedOff && !page.isOn && (
        <Notice kind="success">You have turned off the authenticator app.</Notice>
      )}
      {page.hasRecovered && page.isOn && !done && (
        <Notice kind="info">
          You are logged in. If you have lost your phone, turn off the app below and set it up again on your
          new phone. <a href="/profile/passkeys">Remove any passkeys</a> that were on the old one too.
        </Notice>
      )}
      {page.invitation && (
        <Notice kind="info">
          You are invited to be {page.invitation.role === 'admin' ? 'an administrator' : 'a manager'}, which
          needs a second factor. Set up the app, or <a href="/profile/passkeys">add a passkey</a>, before{' '}
          <Instant at={page.invitation.expiresAt} />. You get the role then.
        </Notice>
      )}
      {page.comesFirst && (
        <Notice kind="info">
          Administrators and managers need a second factor. To continue
          {page.nextTitle && ` to ${page.nextTitle}`}, set up the app or{' '}
          <a href="/profile/passkeys">add a passkey</a>.
        </Notice>
      )}
      {owesClient && (
        <Notice kind="info">
          {page.nextTitle} needs a second factor. To continue, set up the app or{' '}
          <a href={withNext('/profile/passkeys/add', page.next)}>add a passkey</a>.
        </Notice>
      )}
      {!page.comesFirst && !owesClient && page.isStaffWithoutFactor && !page.isOn && page.next && (
        <Notice kind="info">
          You need a second factor to help other people. To continue, set up the app, or{' '}
          <a href="/profile/passkeys">add a passkey</a> and log in with it.
        </Notice>
      )}
      {page.isOn ? <AuthenticatorOn {...page} {...page.isOn} /> : <AuthenticatorOff {...page} />}
    </Page>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { waysToLogIn } from '../components/account/account-pages.ts';
import { DeletionNotice } from '../components/account/deletion-notice.tsx';
import { Links } from '../components/account/links.tsx';
import { Password } from '../components/account/password-form.tsx';
import { Sessions } from '../components/account/sessions.tsx';
import { WaysToLogIn } from '../components/account/ways-to-log-in.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerIntents, text } from '../forms.ts';
import { loadAccount } from '../log-in-first.ts';

export const meta = titled('Security');

export async function loader(args: LoaderFunctionArgs) {
  const loaded = await loadAccount(args, async (procedures) => {
    const [profile, sessions, links, { needsPassword }, states] = await Promise.all([
      procedures.profile.get(),
      procedures.sessions.list(),
      procedures.links.list(),
      procedures.sessions.endOthersNeeds(),
      procedures.security.describe(),
    ]);
    const { email, hasPassword, hasPasskey, deletionDueAt } = profile;
    const ways = waysToLogIn.map(({ isOn, sayState, ...way }) => ({
      ...way,
      isOn: isOn(profile),
      state: sayState(profile, states),
    }));
    const { codesLeft } = states;
    return { email, hasPassword, hasPasskey, deletionDueAt, ways, codesLeft, sessions, links, needsPassword };
  });
  return { ...loaded, keepsMails: args.context.site.keepsMails };
}

export const action = (args: ActionFunctionArgs) =>
  answerIntents(
    args,
    {
      password: (procedures, form) =>
        procedures.profile.changePassword({
          currentPassword: text(form, 'currentPassword'),
          newPassword: text(form, 'newPassword'),
        }),
      'mail-password': (procedures) => procedures.email.requestPassword(),
      'end-session': (procedures, form) =>
        procedures.sessions.end({ id: text(form, 'id'), currentPassword: text(form, 'currentPassword') }),
      'end-others': (procedures, form) =>
        procedures.sessions.endOthers({ currentPassword: text(form, 'currentPassword') }),
      'remove-link': (procedures, form) =>
        procedures.links.remove({
          provider: 'marketplace',
          externalId: text(form, 'externalId'),
          currentPassword: text(form, 'currentPassword'),
        }),
    },
    {
      keeps: ['id', 'externalId'],
      credential: ['password', 'end-session', 'end-others', 'remove-link'],
    },
  );

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const buttons = new Map([
  ['password', 'Change password'],
  ['end-session', 'Log out'],
  ['end-others', 'Log out everywhere else'],
  ['remove-link', 'Remove the connected account'],
]);

export default function Security() {
  const { email, hasPassword, hasPasskey, deletionDueAt, ways, codesLeft, keepsMails, saved, ...listed } =
    useLoaderData<typeof loader>();
  const { sessions, needsPassword, links } = listed;
  const refused = useRefused();
  if (refused?.asks)
    return (
      <Confirm
        refused={refused}
        asks={refused.asks}
        to={buttons.get(refused.values.intent ?? '')}
        danger={refused.values.intent === 'remove-link'}
      />
    );
  const told = { saved, refused };
  return (
    <Page title="Security" intro="How you log in, and where you are logged in now.">
      <DeletionNotice dueAt={deletionDueAt} />
      <WaysToLogIn ways={ways} codesLeft={codesLeft} hasPassword={hasPassword} />
      <Password {...{ email, hasPassword, hasPasskey, keepsMails }} {...told} />
      <Sessions sessions={sessions} needsPassword={needsPassword} {...told} />
      <Links {...{ links, hasPassword, hasPasskey }} {...told} />
    </Page>
  );
}

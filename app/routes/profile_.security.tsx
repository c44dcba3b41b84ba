import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { answerForm, loadAccount, text } from '../account-form.ts';
import { DeletionNotice } from '../components/account/deletion-notice.tsx';
import { Links } from '../components/account/links.tsx';
import { Password } from '../components/account/password-form.tsx';
import { Sessions } from '../components/account/sessions.tsx';
import { WaysToLogIn } from '../components/account/ways-to-log-in.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';

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
    return { email, hasPassword, hasPasskey, deletionDueAt, states, sessions, links, needsPassword };
  });
  return { ...loaded, keepsMails: args.context.site.keepsMails };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(
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
    ['password', 'end-session', 'end-others', 'remove-link'],
  );

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function Security() {
  const { email, hasPassword, hasPasskey, deletionDueAt, states, keepsMails, saved, ...listed } =
    useLoaderData<typeof loader>();
  const { sessions, needsPassword, links } = listed;
  const refused = useActionData<typeof action>();
  if (refused?.asks) return <Confirm asks={refused.asks} />;
  const told = { saved, refused };
  return (
    <Page title="Security" intro="How you log in, and where you are logged in now.">
      <DeletionNotice dueAt={deletionDueAt} />
      <WaysToLogIn {...states} hasPassword={hasPassword} />
      <Password {...{ email, hasPassword, hasPasskey, keepsMails }} {...told} />
      <Sessions sessions={sessions} needsPassword={needsPassword} {...told} />
      <Links {...{ links, hasPassword, hasPasskey }} {...told} />
    </Page>
  );
}

import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { answerForm, loadAccount, text } from '../account-form.ts';
import { waysToLogIn } from '../components/account/account-pages.ts';
import { DeletionNotice } from '../components/account/deletion-notice.tsx';
import { Links } from '../components/account/links.tsx';
import { Password } from '../components/account/password-form.tsx';
import { Sessions } from '../components/account/sessions.tsx';
import { Badge } from '../components/badge.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Page } from '../components/page.tsx';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';

export const meta = titled('Security');

export async function loader(args: LoaderFunctionArgs) {
  const loaded = await loadAccount(args, async (procedures) => {
    const [profile, sessions, links, { needsPassword }] = await Promise.all([
      procedures.profile.get(),
      procedures.sessions.list(),
      procedures.links.list(),
      procedures.sessions.endOthersNeeds(),
    ]);
    const { email, hasPassword, hasPasskey, deletionDueAt } = profile;
    const ways = waysToLogIn.map(({ isOn, ...way }) => ({ ...way, isOn: isOn(profile) }));
    return { email, hasPassword, hasPasskey, deletionDueAt, ways, sessions, links, needsPassword };
  });
  return {
    ...loaded,
    keepsMails: args.context.site.keepsMails,
  };
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
  const { email, hasPassword, hasPasskey, deletionDueAt, ways, keepsMails, saved, ...listed } =
    useLoaderData<typeof loader>();
  const { sessions, needsPassword, links } = listed;
  const refused = useActionData<typeof action>();
  if (refused?.asks) return <Confirm asks={refused.asks} />;
  const told = { saved, refused };
  return (
    <Page title="Security" intro="How you log in, and where you are logged in now.">
      <DeletionNotice dueAt={deletionDueAt} />
      {ways.length > 0 && (
        <Section id="ways" title="Ways to log in">
          <Rows>
            {ways.map(({ path, isOn, ...way }) => (
              <Row key={path} href={path} end={isOn && <Badge meaning="good">Active</Badge>} {...way} />
            ))}
          </Rows>
        </Section>
      )}
      <Password {...{ email, hasPassword, hasPasskey, keepsMails }} {...told} />
      <Sessions sessions={sessions} needsPassword={needsPassword} {...told} />
      <Links {...{ links, hasPassword, hasPasskey }} {...told} />
    </Page>
  );
}

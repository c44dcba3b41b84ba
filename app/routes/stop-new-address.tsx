import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { ButtonLink, type Ended, EndedLink } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { answerForm } from '../forms.ts';

export const meta = titled('Stop the change of your email address');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const isStopped = transport.readQuery(request).get('saved') === 'stopped';
  const works = !isStopped && (await procedures.newAddress.canStop({ token: tokenOf(request, context) }));
  const ended = await explainLink({ request, context }, 'stop_new_address', works);
  const { supportUrl } = site;
  return data({ isStopped, works, ended, supportUrl }, { status: works || isStopped ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    needsNoFields: true,
    async act(_form, procedures) {
      await procedures.newAddress.stop({ token: tokenOf(args.request, args.context) });
      return '/stop-new-address?saved=stopped';
    },
  });

export const headers = noReferrer;

export default function StopNewAddress() {
  const { isStopped, works, ended, supportUrl } = useLoaderData<typeof loader>();
  const here = useFormAction();
  if (isStopped) return <Stopped supportUrl={supportUrl} />;
  if (!works) return <Dead link={ended} />;
  return (
    <Page title="Stop the change of your email address">
      <form method="post" action={here} className="card">
        <p>
          Someone told our support team that they can no longer read this mailbox, and asked for another email
          address for your account. If it was not you, stop the change: your account keeps this email address.
        </p>
        <button type="submit">Stop the change</button>
      </form>
    </Page>
  );
}

function Stopped({ supportUrl }: { supportUrl: string | undefined }) {
  return (
    <Page title="You have stopped the change">
      <div className="card">
        <p>
          Your account keeps its email address. Our support team can see that you stopped the change.
          {supportUrl && (
            <>
              {' '}
              If you think that someone is trying to get into your account,{' '}
              <a href={supportUrl}>contact support</a>.
            </>
          )}
        </p>
        <div className="actions">
          <ButtonLink href="/login">Log in</ButtonLink>
        </div>
      </div>
    </Page>
  );
}

function Dead({ link }: { link: Ended }) {
  return (
    <EndedLink
      link={link}
      says={{
        used: 'You used it to stop the change of your email address.',
        expired: 'It worked for 24 hours after our support team was asked.',
        address_changed:
          'The email address of the account has been changed since we sent this link. Use the link in our newer email to take your account back.',
      }}
      otherwise={<ButtonLink href="/login">Log in</ButtonLink>}
    />
  );
}

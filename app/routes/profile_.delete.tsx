import {
  type ActionFunctionArgs,
  type LoaderFunctionArgs,
  type MetaFunction,
  redirect,
} from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { Contracts } from '../components/account/contracts.tsx';
import { Invoices } from '../components/account/invoices.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { buildTitle } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, refuseForm, requireNoAsks } from '../forms.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import { leadPast, nextOf } from '../next.ts';

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  { title: buildTitle(data?.dueAt ? planned : 'Delete your account', matches) },
];

const planned = 'Your account will be deleted';

const lastAdmin =
  'You are the only administrator, so we cannot delete your account. Ask the people who run this service to make someone else an administrator first.';

export async function loader({ request, context }: LoaderFunctionArgs) {
  // The path to which people go on from this page. Set if the planned deletion has stopped a launch.
  const next = nextOf(request, context);
  return whenLoggedIn({ request, context }, async (procedures) => {
    const { email, deletionDueAt: dueAt } = await procedures.profile.get();
    if (next && !dueAt && context.method !== 'POST' && !context.refused)
      throw redirect(leadPast(next, request, context), 303);
    const [contracts, invoices, links] = await Promise.all([
      procedures.contracts.list(),
      procedures.invoices.list(),
      procedures.links.list(),
    ]);
    return {
      email,
      dueAt,
      next,
      clientTitle: context.site.findLaunchTitle(next),
      hasLinks: links.length > 0,
      contracts: contracts.filter(({ status }) => status !== 'canceled' && status !== 'expired'),
      invoices: invoices.filter(({ status }) => status === 'open'),
    };
  });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const { request, context } = args;
      const intent = form.get('intent');
      if (intent === 'keep') {
        await procedures.deletion.cancel();
        return nextOf(request, context) ?? '/profile?saved=deletion-canceled';
      }
      if (intent !== 'delete')
        throw context.transport.invalidParameter('intent', 'It must be an action of this page.');
      requireNoAsks(await procedures.confirm.ask({ form }));
      if ((await procedures.deletion.request()) === 'last_admin') throw refuseForm('last_admin');
      return '/profile/delete';
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function DeleteAccount() {
  const { dueAt } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Delete your account" danger />;
  const message = refused?.code === 'last_admin' ? lastAdmin : refused?.message;
  return dueAt ? <Planned dueAt={dueAt} /> : <Ask refused={message} minutes={refused?.minutes} />;
}

function Ask({ refused, minutes }: { refused: string | undefined; minutes: number | undefined }) {
  const { email, hasLinks, contracts, invoices } = useLoaderData<typeof loader>();
  return (
    <Page title="Delete your account" intro={`For ${email}`} wide>
      {minutes && <TooMany minutes={minutes} />}
      {refused && <Notice kind="error">{refused}</Notice>}
      <div className="card">
        <p>
          You have 14 days to change your mind. During that time you can log in here and keep your account,
          but you cannot open our products.
        </p>
        <p>
          After that we will permanently delete your profile
          {hasLinks ? ', logins and connected accounts' : ' and logins'}. We cannot undo this. You can sign up
          again with the same email address, but you will start with a new account.
        </p>
        <p>We keep invoices because the law requires it. They show your email address and account name.</p>
        {contracts.length > 0 && (
          <p>
            <strong>We will cancel the contracts below on that day.</strong> They continue until then, unless
            their last day comes first.
          </p>
        )}
        {invoices.length > 0 && <p>You still have to pay the invoices below.</p>}
      </div>
      {contracts.length > 0 && <Contracts contracts={contracts} />}
      {invoices.length > 0 && <Invoices invoices={invoices} />}
      <section aria-labelledby="sure">
        <h2 id="sure">Are you sure?</h2>
        <form method="post" action={useFormAction()} className="card">
          <p>
            You can <a href="/profile/data">download your data</a> first.
          </p>
          <div className="actions">
            <button type="submit" name="intent" value="delete" className="danger">
              Delete your account
            </button>
            <a href="/profile">Keep your account</a>
          </div>
        </form>
      </section>
    </Page>
  );
}

function Planned({ dueAt }: { dueAt: Date }) {
  const { email, clientTitle } = useLoaderData<typeof loader>();
  return (
    <Page title={planned} intro={`For ${email}`}>
      <form method="post" action={useFormAction()} className="card">
        <p>
          We will delete your account on{' '}
          <strong>
            <Instant at={dueAt} />
          </strong>
          , as you asked.
        </p>
        <p>
          {clientTitle
            ? `To continue to ${clientTitle}, keep your account.`
            : 'Until then you cannot open our products.'}
        </p>
        <div className="actions">
          <button type="submit" name="intent" value="keep">
            Keep your account
          </button>
          <a href="/profile">Go to your profile</a>
        </div>
      </form>
    </Page>
  );
}

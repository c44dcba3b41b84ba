import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { deletionPage } from '../components/account/account-pages.ts';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, requireNoAsks } from '../forms.ts';
import { loadAccount } from '../log-in-first.ts';

export const meta = titled('Your data');

export async function loader(args: LoaderFunctionArgs) {
  const loaded = await loadAccount(args, async (procedures) => {
    const { deletionDueAt } = await procedures.profile.get();
    return { isLeaving: deletionDueAt !== null };
  });
  const { transport, site } = args.context;
  // Without this check, a link on another site could start a download, even if people had to log in on the way.
  const isStarting =
    loaded.saved === 'download' && transport.comesFrom(args.request, `${site.baseUrl}/profile/data`);
  return data(
    { ...loaded, isStarting },
    { headers: isStarting ? { Refresh: '0; url=/profile/data.json' } : {} },
  );
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      requireNoAsks(await procedures.confirm.ask({ form }));
      // If the answer were the download itself, the page that asked for a credential would stay open.
      const hasConfirmed = form.has('confirmPassword') || form.has('confirmPasskey');
      return hasConfirmed ? '/profile/data?saved=download' : '/profile/data.json';
    },
  });

/** The loader's `Refresh` header starts the download. */
export const headers = (made: { loaderHeaders: Headers; actionHeaders: Headers }) =>
  new Headers([...made.loaderHeaders, ...made.actionHeaders]);

export default function YourData() {
  const { isLeaving, isStarting } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const here = useFormAction();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Download your data" />;
  return (
    <Page title="Your data" intro="Download a copy of everything we keep about you.">
      {isStarting && (
        <Notice kind="success">Your download has started. If it has not, choose “Download your data”.</Notice>
      )}
      <form method="post" action={here} className="card" data-download>
        <p>
          The file contains your profile and account, where you are logged in, the products you have opened,
          your contracts and invoices, the emails we sent you and your account activity. It does not contain
          passwords or other secrets.
        </p>
        <p>It is a JSON file, which you can open in a text editor. Keep it somewhere safe.</p>
        <div className="actions">
          <button type="submit">Download your data</button>
          <a href="/profile">Back to your profile</a>
        </div>
      </form>
      <p className="aside">
        <a href={deletionPage}>{isLeaving ? 'Keep your account' : 'Delete your account'}</a>
      </p>
    </Page>
  );
}

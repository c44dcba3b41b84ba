import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { loadAccount } from '../account-form.ts';
import { deletionPage } from '../components/account/account-pages.ts';
import { Confirm } from '../components/confirm.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';

/** The page's form is the browser's own, and its answer is a file. */
export const handle = { isStatic: true };

export const meta = titled('Your data');

export const loader = (args: LoaderFunctionArgs) =>
  loadAccount(args, async (procedures) => {
    const { deletionDueAt } = await procedures.profile.get();
    return { isLeaving: deletionDueAt !== null };
  });

export async function action({ request, context: { procedures, transport, visit } }: ActionFunctionArgs) {
  try {
    const { asks } = await procedures.confirm.ask({ form: await transport.readForm(request) });
    return asks ? data({ asks }, { status: 401 }) : redirectDocument('/profile/data.json', 303);
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (refusal.code === 'login_required') return redirectDocument(transport.loginPath(request), 303);
    throw refusal;
  }
}

export default function YourData() {
  const { isLeaving } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  if (refused) return <Confirm asks={refused.asks} />;
  return (
    <Page title="Your data" intro="Download a copy of everything that we keep about you.">
      <form method="post" action={here} className="card">
        <p>
          The file has your profile and account, where you are logged in, the products you have opened, your
          contracts and invoices, the emails that we sent you, and what happened to your account. Passwords
          and other secrets are not in it.
        </p>
        <p>It is a JSON file. You can open it in a text editor. Keep it somewhere safe.</p>
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

import {
  type ActionFunctionArgs,
  type LoaderFunctionArgs,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Page } from '../components/page.tsx';
import { ServiceName, titled } from '../components/service-name.ts';

export const meta = titled('Log out');

export async function loader({ request, context: { backend, visit } }: LoaderFunctionArgs) {
  const target = backend.readLogoutTarget(request);
  // Nothing to ask.
  if (target && !(await backend.findVisitor(request, visit))) throw redirect(target.url, 303);
  return { clientTitle: target?.title };
}

export async function action({ request, context: { backend, visit } }: ActionFunctionArgs) {
  const target = backend.readLogoutTarget(request);
  const cookie = await backend.logout(request, visit);
  // Not "cookies" or "storage": browsers take seconds for them, and the cookie is the only thing we keep.
  const headers = { 'Set-Cookie': cookie, 'Clear-Site-Data': '"cache"' };
  return redirectDocument(target?.url ?? '/login?logged_out', { status: 303, headers });
}

/** Following a link never logs anyone out; only the button does. */
export default function Logout() {
  const { clientTitle } = useLoaderData<typeof loader>();
  return (
    <Page
      title="Log out?"
      intro={
        <>
          This logs you out of <ServiceName /> in this browser.
        </>
      }
    >
      <form method="post" className="card">
        <p>
          Products you have opened log you out too, most of them within seconds. If one does not, log out
          there.
        </p>
        {clientTitle && <p>You then go back to {clientTitle}.</p>}
        <div className="actions">
          <button type="submit">Log out</button>
          <a href="/profile">Stay logged in</a>
        </div>
      </form>
    </Page>
  );
}

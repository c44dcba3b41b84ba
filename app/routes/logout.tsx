import type { ActionFunctionArgs } from '@remix-run/node';
import { redirectDocument } from '@remix-run/node';
import { Page } from '../components/page.tsx';

export const meta = () => [{ title: 'Log out · Identity' }];

export async function action({ request, context }: ActionFunctionArgs) {
  const cookie = await context.backend.logout(request, context.visit);
  return redirectDocument('/login?logged_out', { status: 303, headers: { 'Set-Cookie': cookie } });
}

/** Following a link never logs anyone out; only the button does. */
export default function Logout() {
  return (
    <Page title="Log out?" intro="This logs you out of Identity in this browser.">
      <form method="post" className="card">
        <p>You may still be logged in to products you have opened. Log out of them separately.</p>
        <div className="actions">
          <button type="submit">Log out</button>
          <a href="/profile">Stay logged in</a>
        </div>
      </form>
    </Page>
  );
}

import type { ActionFunctionArgs } from '@remix-run/node';
import { redirectDocument } from '@remix-run/node';
import { Page } from '../components/page.tsx';

export const meta = () => [{ title: 'Log out · Identity' }];

export async function action({ request, context }: ActionFunctionArgs) {
  const cookie = await context.backend.logout(request, context.visit);
  return redirectDocument('/login?logged_out', { status: 303, headers: { 'Set-Cookie': cookie } });
}

/** Following a link never logs anybody out; the button does. */
export default function Logout() {
  return (
    <Page title="Log out?" intro="This ends your login here, in this browser.">
      <form method="post" className="card">
        <p>Products that you have opened keep their own login until they end it.</p>
        <div className="actions">
          <button type="submit">Log out</button>
          <a href="/profile">Stay logged in</a>
        </div>
      </form>
    </Page>
  );
}

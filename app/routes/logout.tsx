import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Page } from '../components/page.tsx';
import { ServiceName, titled } from '../components/service-name.ts';
import { leadOn } from '../next.ts';

export const meta = titled('Log out');

export async function loader({ context: { procedures } }: LoaderFunctionArgs) {
  const target = await procedures.login.logoutTarget();
  // People who are not logged in are not asked whether they want to log out.
  if (!(await procedures.visitor.find())) throw redirect(target?.url ?? '/login?logged_out', 303);
  return { clientTitle: target?.title };
}

export async function action({ context }: ActionFunctionArgs) {
  const { procedures } = context;
  const target = await procedures.login.logoutTarget();
  await procedures.login.out();
  context.isDone = true;
  return redirect(target ? leadOn(target.path, context) : '/login?logged_out', 303);
}

/** Following a link never logs anyone out; only the button does. */
export default function Logout() {
  const { clientTitle } = useLoaderData<typeof loader>();
  return (
    <Page
      title="Log out?"
      intro={
        <>
          This will log you out of <ServiceName /> in this browser.
        </>
      }
    >
      <form method="post" className="card">
        <p>
          Products you have opened will also log you out, most of them within seconds. If one does not, log
          out of it there.
        </p>
        {clientTitle && <p>You will then go back to {clientTitle}.</p>}
        <div className="actions">
          <button type="submit">Log out</button>
          <a href="/profile">Stay logged in</a>
        </div>
      </form>
    </Page>
  );
}

import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { MemberChanges } from '../components/account/member-changes.tsx';
import { Page } from '../components/page.tsx';
import { titled } from '../components/service-name.ts';
import { leadOn } from '../next.ts';

export const meta = titled('Continue?');

/** Reads the hand-off without using it up. */
export const loader = ({ context }: LoaderFunctionArgs) => context.procedures.handOff.describe();

export async function action({ request, context }: ActionFunctionArgs) {
  const done = await context.procedures.handOff.confirm();
  context.isDone = done !== null;
  return redirect(done ? leadOn(done.next, context) : request.url, 303);
}

export default function Continue() {
  const pending = useLoaderData<typeof loader>();
  return pending.account ? <AskToContinue {...pending} /> : <AskToConnect {...pending} />;
}

type Pending = ReturnType<typeof useLoaderData<typeof loader>>;

function AskToContinue({ account, present, path }: Pending) {
  return (
    <Page title="Is this your account?" intro="The marketplace sent you here to log in.">
      <form method="post" action={path} className="card">
        <dl className="facts">
          <dt>Name</dt>
          <dd>
            <bdi>{account?.name}</bdi>
          </dd>
          <dt>Email address</dt>
          <dd>
            {account?.email} {account?.isProved === false && '(not verified)'}
          </dd>
        </dl>
        {present && (
          <p>
            You are logged in as <strong>{present}</strong>. If you continue, we will log you out of that
            account in this browser.
          </p>
        )}
        <p>If you do not recognise this account, do not continue.</p>
        <div className="actions">
          <button type="submit">
            <span className="two-lines">
              Continue as <bdi>{account?.name}</bdi>
            </span>
          </button>
          <a href="/profile">{present ? 'Stay logged in' : 'Cancel'}</a>
        </div>
      </form>
    </Page>
  );
}

function AskToConnect({ marketplace, needsLogin, path, present, changed }: Pending) {
  return (
    <Page title="Connect your marketplace account?" intro="It looks like you already have an account here.">
      <form method="post" action={path} className="card">
        <p>
          Connect the marketplace account <strong>{marketplace.account}</strong>
          {marketplace.name !== marketplace.account && ` (${marketplace.name})`} to the account you have here.
          You can then log in from the marketplace.
        </p>
        {needsLogin && (
          <p>
            {present && (
              <>
                You are logged in as <strong>{present}</strong>.{' '}
              </>
            )}
            First log in to the account that you want to connect. If you do not have a password, you can set
            one by email.
          </p>
        )}
        {changed && (
          <MemberChanges
            title="What will change in your account here"
            changes={changed}
            nothing="Nothing in your account here will change."
          />
        )}
        <p>If this is not your marketplace account, do not connect it.</p>
        <div className="actions">
          {needsLogin ? (
            <a className="button" href={`/login?prompt=login&next=${encodeURIComponent(path)}`}>
              Log in to connect
            </a>
          ) : (
            <button type="submit">Connect</button>
          )}
          <a href="/profile">Do not connect</a>
        </div>
      </form>
    </Page>
  );
}

import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { errorsOf, loginOr } from '../answers.ts';
import { NewBrowserNote } from '../components/account/new-browser.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { withNext } from '../next.ts';

/** The page's only script is that of the passkey. */
export const handle = { isStatic: true };

export const meta = titled('Add a passkey');

const loginPath = withNext('/login', '/profile/passkeys');

export async function loader({ context }: LoaderFunctionArgs) {
  const { procedures } = context;
  try {
    const { refused, suggestedName, isRevocable, email } = await procedures.passkeys.describe();
    // The page of the passkeys says why. After a POST this page does.
    if (refused && context.method !== 'POST') throw redirectDocument('/profile/passkeys', 303);
    return { suggestedName, isRevocable, email };
  } catch (error) {
    throw loginOr(error, context, loginPath);
  }
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const name = form.get('name') ?? '';
  try {
    const { asks } = await procedures.confirm.askWhileSettingUp({ form, change: 'passkey.added' });
    if (asks)
      return data({ asks, name, errors: {}, message: undefined, minutes: undefined }, { status: 401 });
    await procedures.passkeys.add({ name, passkey: form.get('passkey') ?? '' });
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (!['validation_failed', 'rate_limited'].includes(refusal.code))
      throw loginOr(error, context, loginPath);
    const errors = errorsOf(refusal);
    const message = errors.name ? undefined : (errors.passkey ?? refusal.detail);
    const { status, headers } = refusal;
    return data({ asks: undefined, name, errors, message, minutes: refusal.minutes }, { status, headers });
  }
  return redirectDocument('/profile/passkeys?saved=added', 303);
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function AddPasskey() {
  const { suggestedName, isRevocable, email } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  if (refused?.asks) return <Confirm asks={refused.asks} />;
  const errors: Record<string, string> = refused?.errors ?? {};
  return (
    <Page title="Add a passkey" intro="Your browser will ask for your fingerprint, face or screen lock.">
      {refused?.minutes && <TooMany minutes={refused.minutes} />}
      {refused?.message && !refused.minutes && <Notice kind="error">{refused.message}</Notice>}
      <PasskeyForm
        purpose="add"
        name="passkey"
        className="card"
        instead={
          <div className="card">
            <p>
              This browser cannot create a passkey, or JavaScript is switched off. Open this page in another
              browser, or on your phone.
            </p>
          </div>
        }
      >
        <Field
          label="Name"
          hint="So that you can tell it from others. For example, the device it is on."
          name="name"
          required
          maxLength={400}
          autoComplete="off"
          defaultValue={refused?.name ?? suggestedName}
          error={errors.name}
        />
        {isRevocable && <NewBrowserNote what="this passkey" email={email} />}
        <button type="submit">Create the passkey</button>
      </PasskeyForm>
      <p className="aside">
        <a href="/profile/passkeys">Cancel</a>
      </p>
    </Page>
  );
}

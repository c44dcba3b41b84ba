import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { NewBrowserNote } from '../components/account/new-browser.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, requireNoAsks, text } from '../forms.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import { nextOf, withNext } from '../next.ts';

export const meta = titled('Add a passkey');

export async function loader({ request, context }: LoaderFunctionArgs) {
  return whenLoggedIn({ request, context }, async (procedures) => {
    const { refused, suggestedName, isRevocable, email } = await procedures.passkeys.describe();
    // /profile/passkeys says why no passkey can be added. But after a POST, this page itself has to say why.
    if (refused && context.method !== 'POST' && !context.refused) throw redirect('/profile/passkeys', 303);
    return { suggestedName, isRevocable, email };
  });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['name'],
    async act(form, procedures) {
      const next = nextOf(args.request, args.context);
      requireNoAsks(await procedures.confirm.askWhileSettingUp({ form, change: 'passkey.added' }));
      // The form had to wait for a credential, and its passkey was not kept. So people have to make the passkey again.
      if (!form.has('passkey')) return withNext('/profile/passkeys/add', next);
      await procedures.passkeys.add({ name: text(form, 'name'), passkey: text(form, 'passkey') });
      return next ?? '/profile/passkeys?saved=added';
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function AddPasskey() {
  const { suggestedName, isRevocable, email } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Create the passkey" />;
  const errors = refused?.errors ?? {};
  const message = errors.passkey ?? refused?.message;
  return (
    <Page title="Add a passkey" intro="Your browser will ask for your fingerprint, face or screen lock.">
      {refused?.minutes && <TooMany minutes={refused.minutes} />}
      {message && <Notice kind="error">{message}</Notice>}
      <PasskeyForm
        purpose="add"
        name="passkey"
        className="card"
        instead={
          <div className="card">
            <p>
              This browser cannot create a passkey, or JavaScript is turned off. Open this page in another
              browser or on your phone.
            </p>
          </div>
        }
      >
        <Field
          label="Name"
          hint="A name to recognise it by, such as the device it is on."
          name="name"
          required
          maxLength={400}
          autoComplete="off"
          defaultValue={refused?.values.name ?? suggestedName}
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

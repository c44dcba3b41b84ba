import { type ActionFunctionArgs, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { NewBrowserNote } from '../components/account/new-browser.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeyForm } from '../components/passkey-form.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { TooMany } from '../components/too-many.tsx';
import { answerForm, requireNoAsks, text } from '../forms.ts';
import { whenLoggedIn } from '../log-in-first.ts';
import { leadPast, nextOf, withNext } from '../next.ts';

export const meta = titled('Log in without your password');

const targetOf = (request: Request, context: LoaderFunctionArgs['context']) =>
  nextOf(request, context) ?? '/profile';

export async function loader({ request, context }: LoaderFunctionArgs) {
  const target = targetOf(request, context);
  return whenLoggedIn({ request, context }, async (procedures) => {
    const offer = await procedures.passkeys.describeOffer();
    // After a POST this page says why no passkey was added.
    if (!offer.isOpen && context.method !== 'POST' && !context.refused)
      throw redirect(leadPast(target, request, context), 303);
    return { ...offer, nextTitle: context.site.findLaunchTitle(target) };
  });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const { request, context } = args;
      const target = targetOf(request, context);
      switch (form.get('intent')) {
        case 'add':
          requireNoAsks(await procedures.confirm.ask({ form, change: 'passkey.added' }));
          // The form had to wait for a credential, and its passkey was not kept. So people have to make the passkey again.
          if (!form.has('passkey')) return withNext('/profile/passkeys/offer', target);
          await procedures.passkeys.addOffered({ passkey: text(form, 'passkey') });
          return target === '/profile' ? '/profile/passkeys?saved=added' : target;
        case 'later':
          return target;
        case 'never':
          await procedures.passkeys.declineOffers();
          return target;
      }
      throw context.transport.invalidParameter('intent', 'It must be an action of this page.');
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** Offers a passkey to people who have just logged in with only their password. */
export default function Offer() {
  const { email, isRevocable, nextTitle } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Add a passkey" />;
  const message = refused?.errors.passkey ?? refused?.message;
  return (
    <Page
      alone
      title="Log in without your password next time?"
      intro="With a passkey you use your fingerprint, face or screen lock instead."
    >
      {refused?.minutes && <TooMany minutes={refused.minutes} />}
      {message && <Notice kind="error">{message}</Notice>}
      <div className="card">
        <p>
          The passkey will be for <strong>{email}</strong>. Your password will still work too. Only add a
          passkey on your own device.
        </p>
        {isRevocable && <NewBrowserNote what="this passkey" email={email} />}
        <PasskeyForm
          purpose="add"
          name="passkey"
          instead={<p>This browser cannot add a passkey, or JavaScript is turned off.</p>}
        >
          <input type="hidden" name="intent" value="add" />
          <div className="actions">
            <button type="submit">Add a passkey</button>
          </div>
        </PasskeyForm>
        <form method="post">
          <div className="actions">
            <button type="submit" name="intent" value="later" className="quiet">
              {nextTitle ? `Not now, continue to ${nextTitle}` : 'Not now'}
            </button>
            <button type="submit" name="intent" value="never" className="quiet">
              Don’t ask again
            </button>
          </div>
        </form>
      </div>
      <p className="aside">You can add a passkey at any time on the Security page.</p>
    </Page>
  );
}

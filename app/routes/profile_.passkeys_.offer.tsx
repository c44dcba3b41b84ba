import { type ActionFunctionArgs, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { PasskeyOffer } from '../components/account/passkey-offer.tsx';
import { Confirm } from '../components/confirm.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { answerForm, requireNoAsks, text } from '../forms.ts';
import { loginOr } from '../log-in-first.ts';
import { leadPast, nextOf, withNext } from '../next.ts';

export const meta = titled('Log in without your password');

const targetOf = (request: Request, context: LoaderFunctionArgs['context']) =>
  nextOf(request, context) ?? '/profile';

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, site } = context;
  const target = targetOf(request, context);
  try {
    const offer = await procedures.passkeys.describeOffer();
    // After a POST this page says why nothing was added.
    if (!offer.isOpen && context.method !== 'POST' && !context.refused)
      throw redirectDocument(leadPast(target, request, context), 303);
    return { ...offer, nextTitle: site.findLaunchTitle(target) };
  } catch (error) {
    throw await loginOr(error, { request, context });
  }
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    async act(form, procedures) {
      const { request, context } = args;
      const target = targetOf(request, context);
      switch (form.get('intent')) {
        case 'add':
          requireNoAsks(await procedures.confirm.ask({ form, change: 'passkey.added' }));
          // A passkey is not kept while a credential is asked for.
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

export default function Offer() {
  const offer = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Add a passkey" />;
  return (
    <PasskeyOffer
      {...offer}
      message={refused?.errors.passkey ?? refused?.message}
      minutes={refused?.minutes}
    />
  );
}

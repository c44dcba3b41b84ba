import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { errorsOf, loginOr } from '../answers.ts';
import { PasskeyOffer } from '../components/account/passkey-offer.tsx';
import { Confirm } from '../components/confirm.tsx';
import { titled } from '../components/service-name.ts';
import { nextOf } from '../next.ts';

/** The page's only script is that of the passkey. */
export const handle = { isStatic: true };

export const meta = titled('Log in without your password');

const targetOf = (request: Request, context: LoaderFunctionArgs['context']) =>
  nextOf(request, context) ?? '/profile';

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport, site } = context;
  const target = targetOf(request, context);
  try {
    const offer = await procedures.passkeys.describeOffer();
    // After a POST this page says why nothing was added.
    if (!offer.isOpen && context.method !== 'POST') throw redirectDocument(target, 303);
    return { ...offer, nextTitle: site.findLaunchTitle(target) };
  } catch (error) {
    throw loginOr(error, context, transport.loginPathTo(target));
  }
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { procedures, transport, visit } = context;
  const form = await transport.readForm(request);
  const target = targetOf(request, context);
  try {
    switch (form.get('intent')) {
      case 'add': {
        const { asks } = await procedures.confirm.ask({ form, change: 'passkey.added' });
        if (asks) return data({ asks, message: undefined }, { status: 401 });
        await procedures.passkeys.addOffered({ passkey: form.get('passkey') ?? '' });
        return redirectDocument(target === '/profile' ? '/profile/passkeys?saved=added' : target, 303);
      }
      case 'later':
        return redirectDocument(target, 303);
      case 'never':
        await procedures.passkeys.declineOffers();
        return redirectDocument(target, 303);
    }
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    if (!['validation_failed', 'rate_limited'].includes(refusal.code))
      throw loginOr(error, context, transport.loginPathTo(target));
    const { status, headers } = refusal;
    return data(
      { asks: undefined, message: errorsOf(refusal).passkey ?? refusal.detail },
      { status, headers },
    );
  }
  throw transport.invalidParameter('intent', 'It must be an action of this page.');
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function Offer() {
  const offer = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  if (refused?.asks) return <Confirm asks={refused.asks} />;
  return <PasskeyOffer {...offer} message={refused?.message} />;
}

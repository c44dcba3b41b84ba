import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { Access } from '../components/profile/access.tsx';
import { Contracts } from '../components/profile/contracts.tsx';
import { Invoices } from '../components/profile/invoices.tsx';
import { Links } from '../components/profile/links.tsx';
import { NamesForm } from '../components/profile/names-form.tsx';
import { NoPassword, PasswordForm } from '../components/profile/password-form.tsx';
import { Products } from '../components/profile/products.tsx';
import { Sessions } from '../components/profile/sessions.tsx';
import { titled } from '../components/service-name.ts';

export const meta = titled('Your profile');

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { backend, visit } = context;
  const { caller } = backend.createCaller(request, visit);
  try {
    const [profile, sessions, contracts, invoices, links, products] = await Promise.all([
      caller.profile.get(),
      caller.sessions.list(),
      caller.contracts.list(),
      caller.invoices.list(),
      caller.links.list(),
      caller.products.list(),
    ]);
    const saved = new URL(request.url).searchParams.get('saved');
    const { needsPassword } = await caller.sessions.endOthersNeeds();
    return { profile, sessions: { sessions, needsPassword }, contracts, invoices, links, products, saved };
  } catch (error) {
    throw pageError(error, request, context);
  }
}

const text = (form: Map<string, string>, name: string) => form.get(name) ?? '';

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const form = await backend.readForm(request);
  const { caller, headers } = backend.createCaller(request, visit);
  const intent = text(form, 'intent');
  // Shown again where they were refused. A password never is.
  const values = intent === 'names' ? Object.fromEntries(form) : { id: text(form, 'id') };
  try {
    if (intent === 'names') await caller.profile.update(values);
    else if (intent === 'password') {
      const [currentPassword, newPassword] = [text(form, 'currentPassword'), text(form, 'newPassword')];
      await caller.profile.changePassword({ currentPassword, newPassword });
    } else if (intent === 'end-session')
      await caller.sessions.end({ id: text(form, 'id'), currentPassword: text(form, 'currentPassword') });
    else if (intent === 'end-others')
      await caller.sessions.endOthers({ currentPassword: text(form, 'currentPassword') });
    else if (intent === 'remove-link') {
      const [externalId, currentPassword] = [text(form, 'externalId'), text(form, 'currentPassword')];
      await caller.links.remove({ provider: 'marketplace', externalId, currentPassword });
    } else throw backend.invalidParameter('intent', 'It must be an action of this page.');
  } catch (error) {
    const refusal = backend.readRefusal(error, visit);
    if (refusal.code === 'edited_meanwhile') {
      const present = await backend.createCaller(request, visit).caller.profile.get();
      // Made from what is shown now: sent again, it is saved.
      const retry = { ...values, profile_updated_at: present.profile_updated_at };
      return data({ intent, errors: {}, message: undefined, values: retry, present }, { status: 409 });
    }
    const isToldHere = ['validation_failed', 'rate_limited', 'not_found'].includes(refusal.code);
    if (!isToldHere) throw pageError(error, request, context);
    const errors = Object.fromEntries(
      refusal.errors.map(({ pointer, detail }) => [pointer.slice(1), detail]),
    );
    const hasField = Object.keys(errors).some((name) => form.has(name) && name !== 'id');
    const message = hasField ? undefined : refusal.detail;
    return data(
      { intent, errors, message, values, present: undefined },
      { status: refusal.status, headers: refusal.headers },
    );
  }
  return redirect(`/profile?saved=${intent}`, { status: 303, headers });
}

/** Sends people who are not logged in to the login page; the shell answers the rest. */
function pageError(error: unknown, request: Request, { backend, visit }: LoaderFunctionArgs['context']) {
  const refusal = backend.readRefusal(error, visit);
  return refusal.code === 'login_required'
    ? redirect(request.method === 'GET' ? backend.loginPath(request) : '/login?next=%2Fprofile', 303)
    : refusal;
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

const savedNotices: Record<string, string> = {
  names: 'Saved. Products will show your changes the next time you log in to them.',
  password: 'Your password has been changed. You are logged out everywhere else.',
  'password-set': 'Your password has been set. You are logged in here and logged out everywhere else.',
  'email-verified': 'Your email address has been verified.',
  'end-session': 'You are logged out on that device.',
  'end-others': 'You are logged out everywhere else.',
  'remove-link': 'The marketplace account is no longer connected.',
};

export default function Profile() {
  const { profile, sessions, contracts, invoices, links, products, saved } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const refusedFor = (intent: string) => (refused?.intent === intent ? refused : undefined);
  return (
    <Page title="Your profile" intro="Update your details here and all our products will use them." wide>
      {!refused && saved && savedNotices[saved] && <Notice kind="success">{savedNotices[saved]}</Notice>}
      {refused?.message && <Notice kind="error">{refused.message}</Notice>}
      {refused?.present && (
        <Notice kind="error">
          Your details were changed somewhere else after you opened this page. Saved now: name{' '}
          <strong>{refused.present.name}</strong>, account name <strong>{refused.present.accountName}</strong>
          . Choose Save to replace them with what is in the form.
        </Notice>
      )}
      {!profile.emailVerified && (
        <Notice kind="info">
          You need to verify your email address before you can open other products.{' '}
          <a href="/verify-email">Verify it now</a>
        </Notice>
      )}
      <NamesForm profile={profile} refused={refusedFor('names')} />
      <Access profile={profile} />
      {contracts.length > 0 && <Contracts contracts={contracts} />}
      {invoices.length > 0 && <Invoices invoices={invoices} />}
      <Products products={products} />
      {links.length > 0 && (
        <Links links={links} hasPassword={profile.hasPassword} refused={refusedFor('remove-link')} />
      )}
      {profile.hasPassword ? (
        <PasswordForm email={profile.email} refused={refusedFor('password')} />
      ) : (
        <NoPassword emailVerified={profile.emailVerified} />
      )}
      <Sessions
        {...sessions}
        refused={{ one: refusedFor('end-session'), others: refusedFor('end-others') }}
      />
    </Page>
  );
}

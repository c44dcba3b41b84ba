import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { useActionData, useFormAction, useLoaderData } from '@remix-run/react';
import { Field } from '../components/field.tsx';
import { KeptMails, Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';

/** Its form is the browser's own, and works before a script could have loaded. */
export const handle = { isStatic: true };

export const meta = () => [{ title: 'Set a password · Identity' }];

export async function loader({ request, context }: LoaderFunctionArgs) {
  const { searchParams } = new URL(request.url);
  return { isSent: searchParams.has('sent'), keepsMails: context.backend.keepsMails };
}

export async function action({ request, context }: ActionFunctionArgs) {
  const { backend, visit } = context;
  const email = (await backend.readForm(request)).get('email') ?? '';
  const next = backend.readOwnPath(new URL(request.url).searchParams.get('next'));
  try {
    await backend.requestPasswordLink(visit, { email, next });
  } catch (error) {
    const refusal = backend.readRefusal(error);
    if (refusal.code !== 'validation_failed' && refusal.code !== 'rate_limited') throw error;
    const answer = { email, error: refusal.errors[0]?.detail, message: refusal.detail };
    return data(answer, { status: refusal.status, headers: refusal.headers });
  }
  return redirectDocument('/forgot-password?sent', 303);
}

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function ForgotPassword() {
  const { isSent, keepsMails } = useLoaderData<typeof loader>();
  const refused = useActionData<typeof action>();
  const here = useFormAction();
  if (isSent && !refused) {
    return (
      <Page title="Look into your mail">
        <div className="card">
          <p>If somebody has a login with that address, a link to set a password is on its way there.</p>
          <p>It may take a minute, and it may land among the spam.</p>
          {keepsMails && <KeptMails />}
          <p>
            <a href="/forgot-password">Nothing came? Ask again</a>
          </p>
        </div>
      </Page>
    );
  }
  return (
    <Page title="Set a password" intro="For who has none yet, or forgot it: we mail you a link.">
      {refused && !refused.error && <Notice kind="error">{refused.message}</Notice>}
      <form method="post" action={here} className="card">
        <Field
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
          defaultValue={refused?.email}
          error={refused?.error}
        />
        <button type="submit">Mail me a link</button>
      </form>
      <p className="aside">
        <a href="/login">Back to the login</a>
      </p>
    </Page>
  );
}

import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useFormAction, useLoaderData } from '@remix-run/react';
import { explainLink, noReferrer, tokenOf } from '../answers.ts';
import { ButtonLink, type Ended, EndedLink } from '../components/dead-link.tsx';
import { Page } from '../components/page.tsx';
import { ServiceName, titled } from '../components/service-name.ts';
import { answerForm } from '../forms.ts';

export const meta = titled('Get invoices at this address');

/** Does not use up the link, because a mail program may open it before the person does. */
export async function loader({ request, context }: LoaderFunctionArgs) {
  const { procedures, transport } = context;
  const isDone = transport.readQuery(request).get('saved') === 'confirmed';
  const found = isDone ? null : await procedures.invoiceEmail.find({ token: tokenOf(request, context) });
  const ended = await explainLink({ request, context }, 'invoice_email', found !== null || isDone);
  return data({ isDone, email: found?.email, ended }, { status: found || isDone ? 200 : 404 });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    needsNoFields: true,
    async act(_form, procedures) {
      await procedures.invoiceEmail.confirm({ token: tokenOf(args.request, args.context) });
      return '/invoice-email/confirm?saved=confirmed';
    },
  });

export const headers = noReferrer;

export default function ConfirmInvoiceEmail() {
  const { isDone, email, ended } = useLoaderData<typeof loader>();
  const here = useFormAction();
  if (isDone)
    return (
      <Page title="Invoices come here from now on">
        <div className="card">
          <p>Thank you. The next invoices of the account go to this address.</p>
        </div>
      </Page>
    );
  if (!email) return <Dead link={ended} />;
  return (
    <Page title="Get invoices at this address">
      <form method="post" action={here} className="card">
        <p>
          Someone entered <strong>{email}</strong> to get the invoices of an account with <ServiceName />. Do
          you want them to come here?
        </p>
        <p className="hint">If you do not expect any invoices, close this page. Nothing is sent then.</p>
        <button type="submit">Yes, send them here</button>
      </form>
    </Page>
  );
}

function Dead({ link }: { link: Ended }) {
  return (
    <EndedLink
      link={link}
      says={{
        used: 'You used it to get invoices at this address.',
        newer_link: 'The address for invoices was changed, or a newer link was sent.',
        over: 'The address for invoices was changed since we sent this link.',
      }}
      otherwise={<ButtonLink href="/profile/billing">Go to billing</ButtonLink>}
    />
  );
}

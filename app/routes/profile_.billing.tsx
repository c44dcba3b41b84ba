import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { BillingDetails, hasDetails } from '../components/account/billing-details.tsx';
import { detailsFields } from '../components/account/billing-details-form.tsx';
import { Outcome } from '../components/account/outcome.tsx';
import {
  ContractOutcome,
  cancelWords,
  keepWords,
  OwnContracts,
} from '../components/account/own-contracts.tsx';
import { OwnDocuments } from '../components/account/own-documents.tsx';
import { ToPay } from '../components/account/to-pay.tsx';
import { UndecidedInvoiceEmail } from '../components/account/undecided-invoice-email.tsx';
import { Confirm } from '../components/confirm.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { useRefused } from '../components/refused.ts';
import { titled } from '../components/service-name.ts';
import { actConfirmed, answerIntents, text } from '../forms.ts';
import { loadAccount } from '../log-in-first.ts';
import { isShown } from '../refused.ts';

export const meta = titled('Billing');

export const loader = (args: LoaderFunctionArgs) =>
  loadAccount(args, async (procedures) => {
    const query = args.context.transport.readQuery(args.request);
    const before = query.get('before') ?? undefined;
    const [billing, { email }] = await Promise.all([
      procedures.billingPages.describe({ before, sort: query.get('sort') ?? undefined }),
      procedures.profile.get(),
    ]);
    const undecided = await procedures.billingPages.findUndecided();
    const isEditing = query.get('edit') === 'details';
    return { billing, email, undecided, isFirst: before === undefined, isEditing };
  });

export const action = (args: ActionFunctionArgs) =>
  answerIntents(
    args,
    {
      details: (procedures, form) =>
        actConfirmed(args, { procedures, form, change: 'billing.updated' }, () =>
          procedures.billing.update(Object.fromEntries(detailsFields.map((name) => [name, form.get(name)]))),
        ),
      'own-invoice-email': (procedures, form) =>
        actConfirmed(args, { procedures, form, change: 'billing.updated' }, () =>
          procedures.billing.update({ invoiceEmail: '' }),
        ),
      'keep-invoice-email': (procedures, form) =>
        actConfirmed(args, { procedures, form, change: 'billing.updated' }, () =>
          procedures.billingPages.keepInvoiceEmail({ email: text(form, 'invoiceEmail') }),
        ),
      'mail-invoice-email': (procedures, form) =>
        actConfirmed(args, { procedures, form }, () => procedures.billingPages.mailInvoiceEmail()),
      cancel: (procedures, form) =>
        actConfirmed(args, { procedures, form, change: 'contract.cancel_asked' }, () =>
          procedures.contracts.cancel({ contract: text(form, 'contract') }),
        ),
      'keep-contract': (procedures, form) =>
        actConfirmed(args, { procedures, form }, () =>
          procedures.contracts.keep({ contract: text(form, 'contract') }),
        ),
    },
    {
      keeps: [...detailsFields, 'contract'],
      // This page says beside the contract why customers cannot cancel it here.
      shows: (code) => isShown(code) || code === 'not_allowed',
    },
  );

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** The texts of the button on the page that asks for a credential. */
const buttons = new Map([
  ['details', 'Save your billing details'],
  ['mail-invoice-email', 'Send the email again'],
  ['own-invoice-email', 'Send your invoices to you'],
  ['keep-invoice-email', 'Keep the address for invoices'],
  ['cancel', cancelWords],
  ['keep-contract', keepWords],
]);

export default function Billing() {
  const { billing, email, undecided, isFirst, isEditing, saved } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) {
    const { intent = '' } = refused.values;
    return (
      <Confirm refused={refused} asks={refused.asks} to={buttons.get(intent)} danger={intent === 'cancel'} />
    );
  }
  const told = { saved, refused };
  const isEmpty = billing?.contracts.length === 0 && billing.documents.length === 0 && isFirst;
  return (
    <Page title="Billing" intro="What you have, what you pay, and your invoices.">
      {!billing && (
        // Until the email address is proved, the page shows nothing of contracts or invoices.
        <div className="card">
          <EmptyState icon="mail" title="Verify your email address first">
            <p>We only show contracts and invoices once we know that the address is yours.</p>
            <p>
              <a className="button" href="/verify-email">
                Verify it now
              </a>
            </p>
          </EmptyState>
        </div>
      )}
      <Outcome intent="own-invoice-email" saved={saved} refused={refused}>
        Your invoices go to you.
      </Outcome>
      <Outcome intent="keep-invoice-email" saved={saved} refused={refused}>
        Saved. We do not ask again.
      </Outcome>
      <UndecidedInvoiceEmail undecided={undecided} />
      {billing && (
        <>
          {billing.unused.map((amount) => (
            <Notice key={amount.currency} kind="info">
              We have <Money {...amount} /> from you that pays no invoice. We will contact you about it.
            </Notice>
          ))}
          {billing.contracts.length === 0 && <ContractOutcome {...told} />}
          {billing.contracts.length > 0 && <OwnContracts contracts={billing.contracts} {...told} />}
          {billing.open.length > 0 && <ToPay {...billing} />}
          {(billing.documents.length > 0 || !isFirst) && <OwnDocuments {...billing} isFirst={isFirst} />}
          {isEmpty && (
            <div className="card">
              <EmptyState icon="invoice" title="No contracts or invoices yet">
                <p>When you order one of our products, you will see its contract and invoices here.</p>
              </EmptyState>
            </div>
          )}
          {(!isEmpty || hasDetails(billing.details)) && (
            <BillingDetails
              details={billing.details}
              countries={billing.countries}
              email={email}
              isEditing={isEditing}
              {...told}
            />
          )}
        </>
      )}
    </Page>
  );
}

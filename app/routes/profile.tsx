import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Access } from '../components/account/access.tsx';
import { dataPages, deletionPage } from '../components/account/account-pages.ts';
import { DeletionNotice } from '../components/account/deletion-notice.tsx';
import { EmailAddress } from '../components/account/email-address.tsx';
import { NamesForm, namesFields } from '../components/account/names-form.tsx';
import { UndecidedInvoiceEmail } from '../components/account/undecided-invoice-email.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { Page } from '../components/page.tsx';
import { PasskeySignals } from '../components/passkey-signals.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { answerIntents } from '../forms.ts';
import { loadAccount } from '../log-in-first.ts';

export const meta = titled('Your profile');

export async function loader(args: LoaderFunctionArgs) {
  const { spellEmailAddress } = args.context.site;
  return loadAccount(args, async (procedures) => {
    const profile = await procedures.profile.get();
    const pending = await procedures.email.pendingChange();
    return {
      undecided: await procedures.billingPages.findUndecided(),
      profile,
      signals: await procedures.passkeys.signals(),
      spelled: spellEmailAddress(profile.email),
      pendingEmail: pending && { ...pending, spelled: spellEmailAddress(pending.email) },
    };
  });
}

export const action = (args: ActionFunctionArgs) =>
  answerIntents(
    args,
    {
      names: (procedures, form) => procedures.profile.update(Object.fromEntries(form)),
      'cancel-email': (procedures) => procedures.email.cancelChange(),
    },
    { keeps: namesFields },
  );

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** The outcomes of forms on other pages that lead here. */
const arrivals = new Map(
  Object.entries({
    'password-set': 'Your password has been set. You are logged in here and logged out everywhere else.',
    'email-verified': 'Your email address has been verified.',
    'email-changed': 'Your email address has been changed. Use the new address to log in from now on.',
    'taken-back':
      'You have your account back, with a new password. You are logged in here and logged out everywhere else. We have removed all recovery codes, and the passkeys and authenticator apps added since the change that we emailed you about. Check Security.',
    'signed-up': 'Your account is ready, and you are logged in.',
    'deletion-canceled': 'Your account will not be deleted.',
  }),
);

export default function Profile() {
  const { profile, signals, spelled, pendingEmail, undecided, saved } = useLoaderData<typeof loader>();
  const { deletionDueAt } = profile;
  const refused = useRefused();
  const arrival = refused || !saved ? undefined : arrivals.get(saved);
  return (
    <Page title="Your profile" intro="Update your details here and all our products will use them.">
      {arrival && (
        <Notice kind="success" focus>
          {arrival}
        </Notice>
      )}
      <DeletionNotice dueAt={deletionDueAt} />
      <UndecidedInvoiceEmail undecided={undecided} />
      <NamesForm profile={profile} saved={saved} refused={refused} />
      <EmailAddress
        email={profile.email}
        spelled={spelled}
        isVerified={profile.emailVerified}
        pending={pendingEmail}
        saved={saved}
        refused={refused}
      />
      <Access profile={profile} />
      <Section id="own-data" title="Your data">
        <Rows>
          {dataPages.map(({ path, ...page }) => (
            <Row
              key={path}
              href={path}
              {...page}
              {...(path === deletionPage && deletionDueAt && keep(deletionDueAt))}
            />
          ))}
        </Rows>
      </Section>
      <PasskeySignals own={signals} />
    </Page>
  );
}

/** While a deletion is planned, this row replaces the row that offers to delete the account. */
const keep = (dueAt: Date) => ({
  icon: 'check' as const,
  title: 'Keep your account',
  about: (
    <>
      It will be deleted on <Instant at={dueAt} />.
    </>
  ),
});

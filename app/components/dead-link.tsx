import type { ReactNode } from 'react';
import type { DeadLink as Explained } from '../../server/identity/ground/address-proof.ts';
import { useRootData } from '../root-data.ts';
import { Page } from './page.tsx';

export function DeadLink({
  title = 'This link does not work',
  actions,
  children,
}: {
  title?: string;
  actions: ReactNode;
  children: ReactNode;
}) {
  return (
    <Page title={title}>
      <div className="card">
        <p>{children}</p>
        <div className="actions">{actions}</div>
      </div>
    </Page>
  );
}

export type Ended = Explained | null;

type Fate = Explained['fate'];

const titles: Record<Fate, string> = {
  used: 'You have already used this link',
  expired: 'This link has expired',
  newer_link: 'There is a newer link',
  password_set: 'This link no longer works',
  passkey_added: 'This link no longer works',
  address_changed: 'This link no longer works',
  taken_back: 'This link no longer works',
  canceled: 'This change has been canceled',
  withdrawn: 'This link no longer works',
  other_account: 'This link is for another account',
  over: 'This link no longer works',
};

const words: Record<Fate, string> = {
  used: 'Each link in our emails only works once.',
  expired: 'Links in our emails work for a limited time, to keep your account safe.',
  newer_link: 'Only the link in our latest email works.',
  password_set: 'The password of the account has been set or changed since we sent this link.',
  passkey_added: 'A passkey has been added to the account since we sent this link.',
  address_changed: 'The email address of the account has been changed since we sent this link.',
  taken_back: 'The account has been taken back since we sent this link.',
  canceled: 'The email address of the account has not changed.',
  withdrawn: 'We had to cancel all links in our emails while we repaired our service.',
  other_account: 'To use it, log in to that account.',
  over: 'Something about the account has changed since we sent this link.',
};

type EndedLinkProps = {
  link: Ended;
  /** Words for why the link does not work, for a page on which the usual words do not fit. */
  says?: Partial<Record<Fate, ReactNode>>;
  /** Returns what people can do instead, if this depends on why the link does not work. */
  next?: (link: Explained) => ReactNode;
  otherwise: ReactNode;
  children?: ReactNode;
};

/** Says why a link in an email does not work, and offers one thing that still works (contract 9.202). */
export function EndedLink({ link, says = {}, next, otherwise, children }: EndedLinkProps) {
  if (!link)
    return (
      <DeadLink actions={otherwise}>
        We do not recognise this link. Open the link in our email again, or copy all of it. If the email is
        more than a month old, its link no longer works.
        {children}
      </DeadLink>
    );
  const { fate } = link;
  return (
    <DeadLink title={titles[fate]} actions={next?.(link) ?? otherwise}>
      {says[fate] ?? words[fate]}
      {children}
    </DeadLink>
  );
}

/** A button that asks for a new link. The new link goes to the same email address as the old one. */
export function AskForLink({
  action,
  fields = {},
  email,
}: {
  action: string;
  fields?: Record<string, string>;
  /** If given, the button shows this email address. */
  email?: string;
}) {
  return (
    <form method="post" action={action} className="as-button">
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button type="submit">{email ? `Email a new link to ${email}` : 'Email me a new link'}</button>
    </form>
  );
}

export const ButtonLink = ({ href, children }: { href: string; children: ReactNode }) => (
  <a className="button" href={href}>
    {children}
  </a>
);

/** A link to a page that needs a login. To people who are not logged in, the label says that they must log in first. */
export function LogInLink({ href }: { href: string }) {
  const root = useRootData();
  return <ButtonLink href={href}>{root?.email ? 'Continue' : 'Log in'}</ButtonLink>;
}

export const LogInElsewhere = ({ href }: { href: string }) => (
  <ButtonLink href={href}>Log in to the other account</ButtonLink>
);

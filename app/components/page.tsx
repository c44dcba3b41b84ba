import { useLocation } from '@remix-run/react';
import type { ReactNode } from 'react';
import { useRootData } from '../root-data.ts';
import { AccountNav } from './account/account-nav.tsx';
import { findAccountPage } from './account/account-pages.ts';
import { OverdueNotice } from './account/overdue-notice.tsx';
import { VisitorMenu } from './account/visitor-menu.tsx';
import { Icon } from './icon.tsx';
import { Notice } from './notice.tsx';
import { useRefused } from './refused.ts';
import { ServiceName } from './service-name.ts';

type PageProps = {
  title: string;
  intro?: ReactNode;
  /** For pages with more than one thing to read or do. The pages of the account are always wide. */
  wide?: boolean;
  /** For a page that asks for one thing before a page of the account: without the account's navigation. */
  alone?: boolean;
  /** Stands beside the content, and on a phone above it. The pages of the account have their own navigation. */
  nav?: ReactNode;
  children: ReactNode;
};

/**
 * The frame of every page: who is logged in above, the navigation under /profile, the content, and the operator's links
 * below.
 */
export function Page({ title, intro, wide, alone, nav, children }: PageProps) {
  const root = useRootData();
  const accountPage = findAccountPage(useLocation().pathname);
  const isAccount = accountPage !== undefined && root?.email !== undefined && !alone;
  const beside = isAccount ? <AccountNav current={accountPage} /> : nav;
  const content = (
    <main id="main" tabIndex={-1} className={wide || isAccount ? 'wide' : undefined}>
      <div className="heading">
        <h1>{title}</h1>
        {intro && <p className="intro">{intro}</p>}
      </div>
      {useRefused()?.code === 'ended' && (
        <Notice kind="warning">
          You were logged out before you sent this form, so nothing has changed yet. Check the form and send
          it again.
        </Notice>
      )}
      {isAccount && root?.hasOverdue && <OverdueNotice />}
      {children}
    </main>
  );
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <div className="bar-inside">
          <a className="brand" href="/">
            {root?.logoPath ? (
              <img src={root.logoPath} alt={root.name} />
            ) : (
              <>
                <span className="mark">
                  <Icon name="user" />
                </span>
                <ServiceName />
              </>
            )}
          </a>
          {root?.email && <VisitorMenu email={root.email} isStaff={root.isStaff} />}
        </div>
      </header>
      {beside ? (
        <div className="account">
          {beside}
          {content}
        </div>
      ) : (
        content
      )}
      <Footer {...root} />
    </>
  );
}

type FooterProps = { supportUrl?: string; privacyUrl?: string; termsUrl?: string };

function Footer({ supportUrl, privacyUrl, termsUrl }: FooterProps) {
  const links = [
    { href: supportUrl, words: 'Help' },
    { href: privacyUrl, words: 'Privacy' },
    { href: termsUrl, words: 'Terms' },
  ].filter(({ href }) => href !== undefined);
  if (links.length === 0) return null;
  return (
    <footer className="foot">
      {links.map(({ href, words }) => (
        <a key={words} href={href}>
          {words}
        </a>
      ))}
    </footer>
  );
}

import { useLocation } from '@remix-run/react';
import type { ReactNode } from 'react';
import { useRootData } from '../root-data.ts';
import { accountPages, findAccountPage } from './account/account-pages.ts';
import { VisitorMenu } from './account/visitor-menu.tsx';
import { Logo } from './logo.tsx';
import { Notice } from './notice.tsx';
import { isNotDone, notDone, useRefused } from './refused.ts';
import { ServiceName } from './service-name.ts';
import { SideNav } from './side-nav.tsx';

type PageProps = {
  title: string;
  intro?: ReactNode;
  /** Shown below title and intro. All three stay in sight when people scroll. */
  head?: ReactNode;
  /** Set this for a wide page. The pages of the account are always wide. */
  wide?: boolean;
  /** Hides the account's navigation, for a page that people must answer before they go on. */
  alone?: boolean;
  /** Shown beside the content, or above it on a phone. The pages of the account have their own navigation. */
  nav?: ReactNode;
  children: ReactNode;
};

export function Page({ title, intro, head, wide, alone, nav, children }: PageProps) {
  const root = useRootData();
  const refused = useRefused();
  const { pathname } = useLocation();
  const current = findAccountPage(pathname);
  const isAccount = current !== undefined && root?.email !== undefined && !alone;
  const beside = isAccount ? <SideNav label="Your account" pages={accountPages} current={current} /> : nav;
  const content = (
    <main id="main" tabIndex={-1} className={wide || isAccount ? 'wide' : undefined}>
      <div className={head ? 'heading stays' : 'heading'}>
        <h1>{title}</h1>
        {intro && <p className="intro">{intro}</p>}
        {head}
      </div>
      {refused?.code === 'ended' && (
        <Notice kind="warning">
          You were logged out before you sent this form, so nothing has changed yet. Check the form and send
          it again.
        </Notice>
      )}
      {/* Pages of staff (with `nav`) show this notice at the form, which may be far below. */}
      {isNotDone(refused) && !nav && (
        <Notice kind="warning" focus>
          {notDone}
        </Notice>
      )}
      {isAccount && root?.hasOverdue && (
        <Notice kind="warning">
          You have an overdue invoice.{' '}
          {pathname === '/profile/billing' ? (
            'How to pay it is below.'
          ) : (
            <a href="/profile/billing">See what to pay</a>
          )}
        </Notice>
      )}
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
              <Logo {...root} />
            ) : (
              <>
                {root && <img src={root.icons[0].href} alt="" />}
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

type FooterProps = { supportUrl?: string; privacyUrl?: string; termsUrl?: string; accessibilityUrl?: string };

function Footer({ supportUrl, privacyUrl, termsUrl, accessibilityUrl }: FooterProps) {
  const links = [
    { href: supportUrl, words: 'Help' },
    { href: privacyUrl, words: 'Privacy' },
    { href: termsUrl, words: 'Terms' },
    { href: accessibilityUrl, words: 'Accessibility' },
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

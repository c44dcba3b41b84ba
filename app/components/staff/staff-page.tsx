import type { ReactNode } from 'react';
import type { Who } from '../../staff.ts';
import { Icon, type IconName } from '../icon.tsx';
import { Notice } from '../notice.tsx';
import { Page } from '../page.tsx';

type Entry = { path: string; icon: IconName; title: string; isForAdmins?: boolean; parts?: Part[] };
type Part = { path: string; title: string };

const pages: Entry[] = [
  { path: '/admin', icon: 'grid', title: 'Overview', isForAdmins: true },
  { path: '/admin/people', icon: 'people', title: 'People' },
  { path: '/admin/audit', icon: 'clock', title: 'Audit' },
  { path: '/admin/clients', icon: 'link', title: 'Clients', isForAdmins: true },
  { path: '/admin/mails', icon: 'mail', title: 'Mails', isForAdmins: true },
  {
    path: '/admin/billing',
    icon: 'invoice',
    title: 'Billing',
    isForAdmins: true,
    parts: [
      { path: '/admin/billing', title: 'Billing' },
      { path: '/admin/invoices', title: 'Invoices' },
      { path: '/admin/contracts', title: 'Contracts' },
      { path: '/admin/billing/unallocated', title: 'Unallocated' },
      { path: '/admin/billing/settings', title: 'Settings' },
    ],
  },
  { path: '/admin/files', icon: 'download', title: 'Files', isForAdmins: true },
];

type StaffPageProps = {
  title: string;
  intro?: ReactNode;
  who: Who;
  /** The path of the page in the navigation that this one belongs to. */
  current: string;
  /** The path of this page, if it is one of several that have one entry there. */
  part?: string;
  children: ReactNode;
};

/** The frame of the pages on which staff help other people. */
export function StaffPage({ title, intro, who, current, part, children }: StaffPageProps) {
  const { title: about, parts } = pages.find(({ path }) => path === current) ?? {};
  const nav = (
    <nav className="account-nav staff-nav" aria-label="Helping people">
      <ul>
        {pages
          .filter(({ isForAdmins }) => !isForAdmins || who.role === 'admin')
          .map(({ path, icon, title: words }) => (
            <li key={path}>
              <a href={path} aria-current={path === current ? 'page' : undefined}>
                <Icon name={icon} />
                {words}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
  return (
    <Page title={title} intro={intro} nav={nav} wide>
      {parts && (
        <nav className="tabs" aria-label={about}>
          <ul>
            {parts.map(({ path, title: words }) => (
              <li key={path}>
                <a href={path} aria-current={path === part ? 'page' : undefined}>
                  {words}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      {who.lacksFactor && (
        <Notice kind="warning">You are here without a second factor, which only local mode allows.</Notice>
      )}
      {children}
    </Page>
  );
}

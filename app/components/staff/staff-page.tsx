import type { ReactNode } from 'react';
import type { Who } from '../../staff.ts';
import type { AccountPage } from '../account/account-pages.ts';
import { Notice } from '../notice.tsx';
import { Page } from '../page.tsx';
import { SideNav } from '../side-nav.tsx';
import { Tabs } from './tabs.tsx';

type Entry = AccountPage & { isForAdmins?: boolean; parts?: Part[] };
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
      { path: '/admin/billing/import', title: 'Bank statement' },
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
  /** The path of this page's entry in the navigation. */
  current: string;
  /** The path of this page, if several pages share an entry in the navigation. */
  part?: string;
  /** Stays in sight with the title when people scroll. */
  head?: ReactNode;
  children: ReactNode;
};

export function StaffPage({ title, intro, who, current, part, head, children }: StaffPageProps) {
  const { title: about, parts } = pages.find(({ path }) => path === current) ?? {};
  const nav = (
    <SideNav
      label="Helping people"
      pages={pages.filter(({ isForAdmins }) => !isForAdmins || who.role === 'admin')}
      current={current}
      className="account-nav staff-nav"
    />
  );
  return (
    <Page title={title} intro={intro} head={head} nav={nav} wide>
      {parts && <Tabs label={about} pages={parts} current={part} />}
      {who.lacksFactor && (
        <Notice kind="warning">You are here without a second factor, which only local mode allows.</Notice>
      )}
      {children}
    </Page>
  );
}

// The pages of one's own account.
import type { IconName } from '../icon.tsx';

type AccountPage = { path: string; icon: IconName; title: string };

/** The navigation. A phone has room for no longer titles. */
export const accountPages: AccountPage[] = [
  { path: '/profile', icon: 'user', title: 'Profile' },
  { path: '/profile/security', icon: 'shield', title: 'Security' },
  { path: '/profile/products', icon: 'grid', title: 'Products' },
  { path: '/profile/billing', icon: 'invoice', title: 'Billing' },
  { path: '/profile/activity', icon: 'clock', title: 'Activity' },
];

/** Ways to log in that have a page of their own: rows on Security. */
export const waysToLogIn: (AccountPage & { about: string })[] = [
  {
    path: '/profile/passkeys',
    icon: 'key',
    title: 'Passkeys',
    about: 'Log in with your fingerprint, face or screen lock.',
  },
  {
    path: '/profile/authenticator',
    icon: 'phone',
    title: 'Authenticator app',
    about: 'A code from your phone, in addition to your password.',
  },
];

export const deletionPage = '/profile/delete';

/** Taking one's data along, and leaving: rows on Profile. */
export const dataPages: (AccountPage & { about: string })[] = [
  {
    path: '/profile/data',
    icon: 'download',
    title: 'Download your data',
    about: 'A copy of everything that we keep about you.',
  },
  {
    path: deletionPage,
    icon: 'bin',
    title: 'Delete your account',
    about: 'You have 14 days to change your mind.',
  },
];

export const emailPage = '/profile/email';

/** The page of the account that a path belongs to, if any. */
export function findAccountPage(path: string): string | undefined {
  if (path.startsWith('/invoices/')) return '/profile/billing';
  if (path !== '/profile' && !path.startsWith('/profile/')) return undefined;
  const own = accountPages.find((page) => page.path !== '/profile' && path.startsWith(page.path));
  if (own) return own.path;
  return waysToLogIn.some((way) => path.startsWith(way.path)) ? '/profile/security' : '/profile';
}

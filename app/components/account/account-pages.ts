import type { CodeFactor } from '../../../db/tables/users.ts';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import type { TakeBackPage } from '../../../server/identity/recovery/take-back.ts';
import type { IconName } from '../icon.tsx';

export type AccountPage = { path: string; icon: IconName; title: string };
type Profile = Awaited<ReturnType<Procedures['profile']['get']>>;

/** The entries of the navigation. A phone has no room for longer titles. */
export const accountPages: AccountPage[] = [
  { path: '/profile', icon: 'user', title: 'Profile' },
  { path: '/profile/security', icon: 'shield', title: 'Security' },
  { path: '/profile/products', icon: 'grid', title: 'Products' },
  { path: '/profile/billing', icon: 'invoice', title: 'Billing' },
  { path: '/profile/activity', icon: 'clock', title: 'Activity' },
];

/** Ways to log in that have their own page. The page Security lists them. */
export const waysToLogIn: (AccountPage & {
  about: string;
  isOn: (profile: Profile) => boolean;
  sayState: (profile: Profile, states: { passkeys: number }) => string;
})[] = [
  {
    path: '/profile/passkeys',
    icon: 'key',
    title: 'Passkeys',
    about: 'Log in with your fingerprint, face or screen lock.',
    isOn: ({ hasPasskey }) => hasPasskey,
    sayState: (_, { passkeys }) => (passkeys > 0 ? `${passkeys} added` : 'None'),
  },
  {
    path: '/profile/authenticator',
    icon: 'phone',
    title: 'Authenticator app',
    about: 'A code from your phone, as well as your password.',
    isOn: ({ hasAuthenticator }) => hasAuthenticator,
    sayState: ({ hasAuthenticator }) => (hasAuthenticator ? 'On' : 'Off'),
  },
];

/** What other pages call each factor that gives codes. */
const codeWords = {
  authenticator: {
    yours: 'your authenticator app',
    one: 'an authenticator app',
    brief: 'an app',
    many: 'authenticator apps',
    /** What people need to get a code. */
    thing: 'your phone',
    hint: 'Open the app on your phone and enter the 6 digits it shows now.',
  },
} satisfies Record<CodeFactor, unknown>;

/** Joins the names of several factors, such as "your authenticator app", with the word `between`. */
export const sayCodeFactors = (
  words: keyof (typeof codeWords)[CodeFactor],
  between: string,
  kinds = Object.keys(codeWords) as CodeFactor[],
) => kinds.map((kind) => codeWords[kind][words]).join(between);

/** What the page /take-back calls each change. */
export const changeWords: Record<TakeBackPage['happened']['shown'][number]['what'], string> = {
  passkey_added: 'A passkey was added',
  authenticator_added: 'An authenticator app was added',
  recovery_codes_made: 'New recovery codes were made',
  email_changed: 'The email address was changed',
  deletion_requested: 'Deletion of the account was requested',
};

export const deletionPage = '/profile/delete';

/** Pages that the page Profile lists. */
export const dataPages: (AccountPage & { about: string })[] = [
  {
    path: '/profile/data',
    icon: 'download',
    title: 'Download your data',
    about: 'A copy of everything we keep about you.',
  },
  {
    path: deletionPage,
    icon: 'bin',
    title: 'Delete your account',
    about: 'You have 14 days to change your mind.',
  },
];

export const emailPage = '/profile/email';

/** The entry in the navigation to which a path belongs. */
export function findAccountPage(path: string): string | undefined {
  if (path.startsWith('/invoices/')) return '/profile/billing';
  if (path !== '/profile' && !path.startsWith('/profile/')) return undefined;
  const own = accountPages.find((page) => page.path !== '/profile' && path.startsWith(page.path));
  if (own) return own.path;
  return waysToLogIn.some((way) => path.startsWith(way.path)) ? '/profile/security' : '/profile';
}

// Who may enter a client, for the hand-off and for OpenID Connect (contract 4.29). The pages for staff show the same reasons.
import type { User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { LaunchOutcome } from '../../metrics/results.ts';
import type { Client } from '../../sso/clients.ts';
import { asksForCode, setUpPath } from '../session/second-factor.ts';
import type { LoggedInSession } from '../session/sessions.ts';
import { roleOf } from './profile.ts';

export const mayEnter = ({ roles }: Pick<Client, 'roles'>, user: User) => roles.includes(roleOf(user));

/**
 * Returns the first reason why the user may not enter the client. A missing second factor is checked only after these reasons,
 * so that nobody sets up a factor and is then refused.
 */
export function findStop(client: Pick<Client, 'roles'>, user: User) {
  if (user.suspendedAt) return 'suspended';
  if (user.deletionDueAt) return 'leaving';
  if (!user.emailVerifiedAt) return 'unproved';
  return mayEnter(client, user) ? undefined : 'not_let_in';
}

/**
 * Each reason why a client does not get the person: its error, the page that helps, if there is one, and its name in the
 * metrics. The errors are from OpenID Connect Core 1.0, section 3.1.2.6, and RFC 6749, section 4.1.2.1.
 */
export const entryRefusals = {
  nobody: { error: 'login_required', page: '/login', first: 'login' },
  too_long_ago: { error: 'login_required', page: '/login?prompt=login', first: 'login' },
  suspended: { error: 'access_denied', page: '/login', first: 'login' },
  leaving: { error: 'interaction_required', page: '/profile/delete', first: 'deletion' },
  unproved: { error: 'interaction_required', page: '/verify-email', first: 'verify_email' },
  not_let_in: { error: 'access_denied', page: undefined, first: 'client_not_allowed' },
  owes_code: { error: 'interaction_required', page: '/login/code', first: 'second_factor' },
  owes_factor: { error: 'interaction_required', page: setUpPath, first: 'second_factor' },
} as const satisfies Record<string, { error: LaunchOutcome; page: string | undefined; first: LaunchOutcome }>;

export type EntryRefusal = keyof typeof entryRefusals;

/** `authAfter`, in Unix seconds: a credential must have been given since then. */
type Demand = { prompt?: 'none' | 'login'; authAfter?: number };

type Login = Pick<LoggedInSession, 'state' | 'user' | 'amr' | 'authTime'>;

/** Returns the session, or the first reason why the client does not get the person. */
export function decideEntry<Session extends Login>(
  client: Pick<Client, 'roles' | 'needsFactor'>,
  session: Session | { state: 'suspended' } | undefined,
  { prompt, authAfter }: Demand,
): Extract<Session, { state: 'live' }> | EntryRefusal {
  if (!session) return 'nobody';
  if (session.state === 'suspended') return 'suspended';
  // `login` asks for a credential even if one was given within the same second.
  if (prompt === 'login') return 'too_long_ago';
  if (authAfter !== undefined && (secondsOf(session.authTime) ?? Number.NEGATIVE_INFINITY) < authAfter)
    return 'too_long_ago';
  const stop = findStop(client, session.user);
  if (stop) return stop;
  const isComplete = session.state === 'live' && (!client.needsFactor || session.amr.includes('mfa'));
  if (isComplete) return session as Extract<Session, { state: 'live' }>;
  return asksForCode(session.user) ? 'owes_code' : 'owes_factor';
}

/**
 * Returns the page on which the person can remove the reason. After that, the page leads to `next`. If there is no such page,
 * throws 403 `client_not_allowed`: that refusal names the client, and offers a login with another account (contract 13.53).
 */
export function findPageOfRefusal({ title }: Client, refusal: EntryRefusal, next: string): string {
  const { page } = entryRefusals[refusal];
  if (page === undefined)
    throw new AppError('client_not_allowed', {
      detail: `${title} is not open to your account. Log in with another account, if you have one. Contact support if you think that this is wrong.`,
    });
  const why = refusal === 'too_long_ago' ? '&why=asked-again' : '';
  return `${page}${page.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}${why}`;
}

/** Unix seconds. */
export const secondsOf = (at: Date | null) => (at ? Math.floor(at.getTime() / 1_000) : undefined);

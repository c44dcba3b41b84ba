// Rules for second factors: which users have one, and which must set one up before they may do anything else (contract 9.69 to
// 9.83).
import type { Session } from '../../../db/tables/live-sessions.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Config } from '../../settings/config.ts';

type Settings = Pick<Config, 'requiresAdminFactor' | 'production'>;
type Login = Pick<Session, 'user' | 'amr'>;

export const asksForCode = ({ codeFactors }: Pick<User, 'codeFactors'>) => codeFactors.length > 0;

/** Only this function says what counts as a second factor. */
export const hasSecondFactor = (user: Pick<User, 'codeFactors' | 'hasPasskey'>) =>
  asksForCode(user) || user.hasPasskey;

export const needsSecondFactor = ({ requiresAdminFactor }: Settings, user: Pick<User, 'role'>) =>
  requiresAdminFactor && user.role !== 'user';

/** If true, the user needs a second factor to help other people (contract 12.1). A password alone is then no credential. */
export const needsStaffFactor = ({ production, requiresAdminFactor }: Settings, user: Pick<User, 'role'>) =>
  (production || requiresAdminFactor) && user.role !== 'user';

/**
 * Returns true if a password alone is no credential of this user, even if they gave a second factor earlier in the session
 * (contract 12.7).
 */
export const needsMoreThanPassword = (
  settings: Settings,
  user: Pick<User, 'role' | 'codeFactors' | 'hasPasskey'>,
) => needsStaffFactor(settings, user) && hasSecondFactor(user);

/** For users who need a second factor: true until they have set one up and given it. */
export const mustSetUpFactor = (settings: Settings, { user, amr }: Login) =>
  needsSecondFactor(settings, user) && (!hasSecondFactor(user) || !amr.includes('mfa'));

/**
 * Returns true if the login still needs a second factor. A user with a passkey and a password may log in with either, unless
 * they are staff or on their way to a client that needs a factor.
 */
export const lacksSecondFactor = (settings: Settings, { user, amr }: Login, clientNeedsFactor = false) =>
  !amr.includes('mfa') &&
  (asksForCode(user) || (user.hasPasskey && (clientNeedsFactor || needsStaffFactor(settings, user))));

export const setUpPath = '/profile/authenticator';

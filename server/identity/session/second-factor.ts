// Who has a second factor, and who has to set one up before anything else (contract 9.69 to 9.83).
import type { Session } from '../../../db/tables/live-sessions.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Config } from '../../settings/config.ts';

type Settings = Pick<Config, 'requiresAdminFactor'>;
type Login = Pick<Session, 'user' | 'amr'>;

/** The one place that says what counts. */
export const hasSecondFactor = (user: Pick<User, 'hasAuthenticator' | 'hasPasskey'>) =>
  user.hasAuthenticator || user.hasPasskey;

/** Whether the role of that user needs one. */
export const needsSecondFactor = ({ requiresAdminFactor }: Settings, user: Pick<User, 'role'>) =>
  requiresAdminFactor && user.role !== 'user';

/** Whether somebody who is logged in must set up a second factor, or give it, before anything else. */
export const mustSetUpFactor = (settings: Settings, { user, amr }: Login) =>
  needsSecondFactor(settings, user) && (!hasSecondFactor(user) || !amr.includes('mfa'));

/**
 * Whether a change by the password alone would get round a factor that was not given in this session. Whoever has a
 * passkey beside their password may use either, unless their role needs a second factor.
 */
export const lacksSecondFactor = (settings: Settings, { user, amr }: Login) =>
  !amr.includes('mfa') && (user.hasAuthenticator || (user.hasPasskey && needsSecondFactor(settings, user)));

/** The page that sets one up. */
export const setUpPath = '/profile/authenticator';

// Who has a second factor, and who has to set one up before anything else (contract 9.69 to 9.83).
import type { Session } from '../../../db/tables/live-sessions.ts';
import type { User } from '../../../db/tables/users.ts';
import type { Config } from '../../settings/config.ts';

type Settings = Pick<Config, 'requiresAdminFactor' | 'production'>;
type Login = Pick<Session, 'user' | 'amr'>;

/** Whether that user is asked for a code after the password. */
export const asksForCode = ({ codeFactors }: Pick<User, 'codeFactors'>) => codeFactors.length > 0;

/** Whether the user has a second factor. Only this function says what counts as one. */
export const hasSecondFactor = (user: Pick<User, 'codeFactors' | 'hasPasskey'>) =>
  asksForCode(user) || user.hasPasskey;

/** Whether the role of that user needs a second factor. */
export const needsSecondFactor = ({ requiresAdminFactor }: Settings, user: Pick<User, 'role'>) =>
  requiresAdminFactor && user.role !== 'user';

/**
 * Whether that user can help other people only with a second factor (contract 12.1), and gives no password alone as a credential.
 */
export const needsStaffFactor = ({ production, requiresAdminFactor }: Settings, user: Pick<User, 'role'>) =>
  (production || requiresAdminFactor) && user.role !== 'user';

/** Whether the password alone is no credential of that user, whatever was given in this session before (contract 12.7). */
export const needsMoreThanPassword = (
  settings: Settings,
  user: Pick<User, 'role' | 'codeFactors' | 'hasPasskey'>,
) => needsStaffFactor(settings, user) && hasSecondFactor(user);

/** Whether a user who is logged in must set up a second factor, or give theirs, before anything else. */
export const mustSetUpFactor = (settings: Settings, { user, amr }: Login) =>
  needsSecondFactor(settings, user) && (!hasSecondFactor(user) || !amr.includes('mfa'));

/**
 * Whether a change by the password alone would get round a factor that was not given in this session. A user with a passkey
 * beside their password may use either, unless they are of the staff.
 */
export const lacksSecondFactor = (settings: Settings, { user, amr }: Login) =>
  !amr.includes('mfa') && (asksForCode(user) || (user.hasPasskey && needsStaffFactor(settings, user)));

/** The page on which a user sets up a second factor. */
export const setUpPath = '/profile/authenticator';

// Who has a second factor, and who has to set one up before anything else (contract 9.69 to 9.83).
import type { Session } from '../../../db/tables/live-sessions.ts';
import type { User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
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

export const setUpPath = '/profile/authenticator';

/** What they may open until then, besides logging out. */
const openPaths = [setUpPath, '/profile/passkeys', '/profile/passkeys/add', '/passkeys/options'];

/** Throws 403 `second_factor_required` for any other request of theirs. */
export function requireNoSetUp(settings: Settings, session: Login, request: Request): void {
  if (!mustSetUpFactor(settings, session) || openPaths.includes(new URL(request.url).pathname)) return;
  throw new AppError('second_factor_required');
}

// Whether a user may get in at all. A freeze (freeze.ts) is a suspension with its own reason.
import type { User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';

type Suspension = Pick<User, 'suspendedAt' | 'frozenAt'>;

/** Call it only after a correct credential, because only the owner may learn that an account is suspended. */
export const suspensionOf = ({ frozenAt }: Suspension) =>
  new AppError(frozenAt ? 'account_frozen' : 'account_suspended');

/** Throws 403 `account_suspended` or `account_frozen`. */
export function requireNotSuspended(user: Suspension): void {
  if (user.suspendedAt) throw suspensionOf(user);
}

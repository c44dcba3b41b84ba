// A new password is counted as a try, then checked, and then hashed (contract 9.244 to 9.246). All three steps happen before a
// transaction begins.
import type { Database } from '../../../db/postgres/client.ts';
import { AppError, invalidMember } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { lineOf } from '../../ground/rate-limits.ts';
import type { Visit } from '../../web/requests.ts';
import { CheckIsFull, withNames } from './password-check.ts';
import { hashPassword } from './passwords.ts';

/** Who sets the password: the reader of a link in a mail, or a user who is logged in. `nameOwnBrowser` gives `ownBrowser`. */
type Door = { token: string } | { userId: string; ownBrowser: string | undefined };

type Checking = Pick<Visit, 'deadline' | 'signal'>;

/**
 * `email` and `name` are the owner's. Guessers try passwords made of them before others, so the password must not be made of
 * them.
 */
type NewPassword = { password: string; email: string; name: string };

/** The password is counted as refused until `giveBack` is called. */
export type CountedPassword = {
  /** Takes the count back. Call it last in the transaction that sets the password, or if no check took place. */
  giveBack: (db: Database) => Promise<void>;
  keys: string[];
};

export type GoodPassword = CountedPassword & { hash: () => Promise<string> };

/** Throws 429 `rate_limited`, with an error at `/newPassword`, if too many passwords were refused. */
export async function countNewPassword(
  { newPasswordLimits }: Pick<Dependencies, 'newPasswordLimits'>,
  { address }: Pick<Visit, 'address'>,
  door: Door,
): Promise<CountedPassword> {
  const account = 'token' in door ? `link ${door.token}` : `user ${door.userId} ${door.ownBrowser ?? ''}`;
  const { giveBack } = await newPasswordLimits
    .countTry({ account, address, device: undefined })
    .catch((error) => {
      if (!(error instanceof AppError)) throw error;
      throw new AppError('rate_limited', {
        errors: [{ pointer: '/newPassword', detail: faultWords.passwords_refused }],
        headers: error.headers,
      });
    });
  const line = lineOf(address);
  return { giveBack, keys: line === undefined ? [account] : [account, line] };
}

/** Throws 422 `validation_failed` at `/newPassword`, and what `PasswordCheck` throws. */
export async function requireGoodPassword(
  deps: Pick<Dependencies, 'db' | 'config' | 'clients' | 'passwordCheck'>,
  visit: Checking,
  counted: CountedPassword,
  given: NewPassword,
): Promise<GoodPassword> {
  const fault = await findNewPasswordFault(deps, visit, counted, given);
  if (fault) throw fault;
  // From here on, only the transaction takes the count back. If the caller closes the connection now, the count stays, because
  // the check has been done.
  return { ...counted, hash: () => visit.deadline.pause(() => hashPassword(given.password, visit.signal)) };
}

/**
 * Returns undefined for a good password. Throws what `PasswordCheck` throws. If the queue of the check is full, the count is
 * taken back.
 */
export async function findNewPasswordFault(
  { db, config, clients, passwordCheck }: Pick<Dependencies, 'db' | 'config' | 'clients' | 'passwordCheck'>,
  { deadline, signal }: Checking,
  { giveBack, keys }: CountedPassword,
  given: NewPassword,
): Promise<AppError | undefined> {
  const find = () => passwordCheck.findFault(withNames(config, clients, given), { signal, keys });
  const detail = await deadline.pause(find).catch(async (error) => {
    if (error instanceof CheckIsFull) await giveBack(db);
    throw error;
  });
  return detail === undefined ? undefined : invalidMember('/newPassword', detail);
}

export async function hashNewPassword(
  deps: Dependencies,
  visit: Visit,
  { token, ...given }: NewPassword & { token: string },
): Promise<{ passwordHash: string; giveBack: CountedPassword['giveBack'] }> {
  const counted = await countNewPassword(deps, visit, { token });
  const { hash, giveBack } = await requireGoodPassword(deps, visit, counted, given);
  return { passwordHash: await hash(), giveBack };
}

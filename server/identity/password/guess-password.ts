// One guess at a password, by a stranger or by a user who is logged in: counted before it is checked, and checked only if
// there is room for it.
import type { PasswordOwner } from '../../../db/tables/password-owners.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { nameGuessingDevice, readDevice } from '../ground/device.ts';
import { takeSlot, verifyPassword } from './passwords.ts';

export type Guess = {
  /** Whether there is an owner with a password, and the guess is that password. */
  isRight: boolean;
  owner: PasswordOwner | undefined;
  /** Takes the guess back from the counts, for a right password. `db` may be a transaction. */
  giveBack: Awaited<ReturnType<Dependencies['guessLimits']['countTry']>>['giveBack'];
};

/**
 * Checks a guess, with the same work whether there is an owner or not. Guesses are counted by the address `email`; `find`
 * finds the owner. Throws 429 `rate_limited`, 503 `unavailable` if too many passwords are being checked, and 400
 * `invalid_request` if the client has gone. A guess that throws has not been checked, and only one that throws 429 counts.
 */
export async function guessPassword(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  guess: {
    email: string;
    password: string;
    find: (deviceHash: Uint8Array) => Promise<PasswordOwner | undefined>;
  },
): Promise<Guess> {
  const { db, log, guessLimits } = deps;
  const { address, requestId, signal, deadline } = visit;
  let owner: PasswordOwner | undefined;
  try {
    return await takeSlot(async () => {
      owner = await guess.find(readDevice(deps, request) ?? new Uint8Array());
      const { giveBack } = await guessLimits.countTry({
        // A new password starts to count afresh.
        account: `${guess.email} ${owner?.passwordHash ?? ''}`,
        address,
        device: nameGuessingDevice(owner),
      });
      try {
        const isRight = await deadline.pause(() =>
          verifyPassword(owner?.passwordHash, guess.password, signal),
        );
        return { isRight, owner, giveBack };
      } catch (error) {
        await giveBack(db);
        throw error;
      }
    });
  } catch (error) {
    // Without a slot nobody has been looked up, and nobody is for this line.
    if (error instanceof AppError)
      log.record({ requestId, address, userId: owner?.userId, reason: error.code }, 'password not checked');
    throw error;
  }
}

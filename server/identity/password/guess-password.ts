// A guess at a password first needs a free slot for hashing (passwords.ts). With a slot, the guess is counted, and then checked.
import type { PasswordOwner } from '../../../db/tables/password-owners.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { countGuessFor, readDevice } from '../ground/device.ts';
import { takeSlot, verifyPassword } from './passwords.ts';

export type Guess = {
  isRight: boolean;
  owner: PasswordOwner | undefined;
  giveBack: Awaited<ReturnType<Dependencies['guessLimits']['countTry']>>['giveBack'];
};

/**
 * Does the same work if the email address has no owner. Throws 429 `rate_limited` if too many guesses were made. Throws 503
 * `unavailable` if too many passwords are being hashed or no time is left, and 400 `invalid_request` if the caller has closed
 * the connection. With 503 and 400 no guess is counted.
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
      const { giveBack } = await guessLimits.countTry(countGuessFor(guess.email, owner, address));
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
    // If there was no slot, the owner was not looked up, and the log does not name them. A refusal must cost little.
    if (error instanceof AppError)
      log.record({ requestId, address, userId: owner?.userId, reason: error.code }, 'password not checked');
    throw error;
  }
}

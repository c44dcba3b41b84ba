// A guess at a password is counted before it is checked, and checked only if there is room for it.
import type { PasswordOwner } from '../../../db/tables/password-owners.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { nameGuessingDevice, readDevice } from '../ground/device.ts';
import { takeSlot, verifyPassword } from './passwords.ts';

export type Guess = {
  isRight: boolean;
  owner: PasswordOwner | undefined;
  giveBack: Awaited<ReturnType<Dependencies['guessLimits']['countTry']>>['giveBack'];
};

/** Does the same work without an owner. Throws 429 `rate_limited`, which counts, 503 `unavailable` and 400 `invalid_request`. */
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
    // Without a slot nobody has been looked up, and nobody is looked up for this line.
    if (error instanceof AppError)
      log.record({ requestId, address, userId: owner?.userId, reason: error.code }, 'password not checked');
    throw error;
  }
}

// A try at the code of a second factor, by somebody whose password was right: for a login, or to confirm a change.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { findPasswordOwner } from '../../../db/tables/password-owners.ts';
import { findFullCount } from '../../../db/tables/rate-limits.ts';
import type { User } from '../../../db/tables/users.ts';
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import type { OtherTime } from '../factor/authenticator-code.ts';
import { readFactor } from '../factor/second-factor-check.ts';
import { countGuessFor, readDevice } from '../ground/device.ts';
import { notify, notifyOnceADay } from '../ground/notices.ts';
import { refusedLogin, trailOf } from '../ground/trail.ts';

/**
 * Counts the try before it looks at the code, so that many tries at the same time cannot slip through. Throws 429
 * `rate_limited`. `use` uses the code up, records the outcome, and tells the owner if needed. The caller of `use` has locked
 * the user. After a right code, call `giveBack` last, because it locks the rows of the counts, and other tries wait for them.
 */
export async function tryCode(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  { userId, typed }: { userId: string; typed: string },
) {
  const { isLast, giveBack } = await deps.codeLimits.countTry(
    await describeTry(deps, request, visit, userId),
  );
  const factor = await readFactor(deps, userId, typed);
  return {
    giveBack,
    async use(trx: Transaction<DB>, user: User): Promise<'code' | 'recovery_code' | 'wrong' | OtherTime> {
      if (!factor || factor === 'other_time' || !(await factor.consume(trx))) {
        deferAuditEvent(trx, { ...trailOf(visit), ...refusedLogin('wrong_code'), userId });
        // Somebody who knows the password is guessing codes, so the owner is told.
        if (isLast) await notifyOnceADay(trx, deps, user, 'codes_guessed', request);
        return factor === 'other_time' ? factor : 'wrong';
      }
      if (factor.kind !== 'recovery_code') return 'code';
      await notify(trx, deps, user, 'recovery_code_used', request);
      return 'recovery_code';
    },
  };
}

/** Throws 429 `rate_limited` if no try at a code is left. Counts nothing. */
export async function requireTryLeft(deps: Dependencies, request: Request, visit: Visit, userId: string) {
  const counts = deps.codeLimits.countsOf(await describeTry(deps, request, visit, userId));
  const waitMs = await findFullCount(deps.db, ...counts);
  if (waitMs === undefined) return;
  const seconds = String(Math.max(1, Math.ceil(waitMs / 1_000)));
  throw new AppError('rate_limited', { headers: { 'Retry-After': seconds } });
}

async function describeTry(deps: Dependencies, request: Request, visit: Visit, userId: string) {
  const device = readDevice(deps, request) ?? new Uint8Array();
  const owner = await findPasswordOwner(deps.read, { userId }, device);
  return countGuessFor(userId, owner, visit.address);
}

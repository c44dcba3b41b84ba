// Answers requests for a mail to an address that anybody may have typed. Neither the answer nor its time shows what we found.
import type { Transaction } from 'kysely';
import { inTransactionOf } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { findDeviceName } from './device.ts';

// The answer comes after this time, which is longer than the work takes for any address.
const answerAfterMs = 300;

/**
 * Runs `send`, and resolves after a time that is the same for every address. If the holder of the address knows the browser of
 * `request`, that browser has its own limits. Throws 429 `rate_limited`.
 */
export async function answerAlike(
  deps: Dependencies,
  visit: Visit,
  {
    email,
    request,
    limits = deps.mailLimits,
  }: { email: string; request?: Request; limits?: Dependencies['mailLimits'] },
  send: (trx: Transaction<DB>) => Promise<void>,
): Promise<void> {
  const device = await findDeviceName(deps, request, email);
  await limits.countTry({ account: email, address: visit.address, device });
  const pause = new Promise((done) => setTimeout(done, answerAfterMs));
  // The mail is stored before the answer, so it goes out even if this process ends right after.
  await Promise.all([inTransactionOf(visit, deps.db, send), pause]);
}

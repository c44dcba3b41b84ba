import type { Database } from '../../../db/postgres/client.ts';
import { consumeStep, findAuthenticator } from '../../../db/tables/authenticators.ts';
import { countChange, findFullCount } from '../../../db/tables/rate-limits.ts';
import { seal, unseal } from '../../basics/sealing.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { digestOf } from '../../ground/rate-limits.ts';
import { findOtherSteps, findStep, stepOf } from './totp.ts';

/** The code is correct for another time, so the phone's clock may be off. Such a code counts as wrong. */
export type OtherTime = 'other_time';

/**
 * Returns undefined for a wrong code. For a right code, returns a function that uses the code up. That function gives true only
 * the first time.
 */
export async function readAuthenticatorCode(
  { db, config, now: clock }: Dependencies,
  userId: string,
  code: string,
): Promise<((trx: Database) => Promise<boolean>) | OtherTime | undefined> {
  const authenticator = await findAuthenticator(db, userId);
  if (!authenticator) return undefined;
  const { sealedSecret: stored, lastStep } = authenticator;
  const opened = await unseal(config.encryptionKeys, secretContext(userId), stored);
  // This happens if the operator has lost the key. Recovery codes still work, because no key seals them.
  if (!opened) throw new Error('IDENTITY_ENCRYPTION_KEY does not open the secret of an authenticator app');
  const now = clock();
  const step = await findStep(opened.plain, code, now);
  if (step === undefined) {
    const others = (await findOtherSteps(opened.plain, code, now)).filter((each) => each > lastStep);
    for (const each of others) if (each > stepOf(now)) await bar(db, userId, each);
    return others.length > 0 ? 'other_time' : undefined;
  }
  const sealedSecret = opened.isCurrent
    ? stored
    : await seal(config.encryptionKeys, secretContext(userId), opened.plain);
  return async (trx) =>
    !(await isBarred(trx, userId, step)) && (await consumeStep(trx, { userId, step, sealedSecret, now }));
}

export const secretContext = (userId: string) => `authenticator ${userId}`;

// The answer `other_time` tells a guesser that the code is right at another time, perhaps soon. So such a code is barred until
// after its time, and never accepted (contract 9.248).
const barredFor = (userId: string, step: number) => ({
  key: `code-barred:${digestOf(`${userId} ${step}`)}`,
  times: 1,
  windowMs: 20 * 60_000,
});

const bar = (db: Database, userId: string, step: number) => countChange(db, barredFor(userId, step));

const isBarred = async (db: Database, userId: string, step: number) =>
  (await findFullCount(db, barredFor(userId, step))) !== undefined;

// Checking what somebody gives as their second factor, after their password: a code from the authenticator app, or a
// recovery code. Each works once.

import type { Database } from '../../../db/postgres/client.ts';
import { consumeStep, findAuthenticator } from '../../../db/tables/authenticators.ts';
import { consumeRecoveryCode } from '../../../db/tables/recovery-codes.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { seal, unseal } from '../ground/sealing.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { findStep, isCode } from './totp.ts';

export type FactorUse = {
  kind: 'code' | 'recovery_code';
  /** Uses the factor up: true for exactly one caller. `trx` has locked the user. */
  consume: (trx: Database) => Promise<boolean>;
};

/** The factor that was typed, or undefined if it is wrong. Uses nothing up. */
export async function readFactor(
  deps: Dependencies,
  userId: string,
  typed: string,
  /** Recovery codes made after `madeBy` do not count. */
  { madeBy }: { madeBy?: Date | undefined } = {},
): Promise<FactorUse | undefined> {
  const code = typed.replace(/\s/g, '');
  if (isCode(code)) return readCode(deps, userId, code);
  const codeHash = hashRecoveryCode(userId, typed);
  return { kind: 'recovery_code', consume: (trx) => consumeRecoveryCode(trx, { userId, codeHash, madeBy }) };
}

async function readCode(
  { db, config, now: clock }: Dependencies,
  userId: string,
  code: string,
): Promise<FactorUse | undefined> {
  const authenticator = await findAuthenticator(db, userId);
  if (!authenticator) return undefined;
  const opened = await unseal(config.encryptionKeys, secretContext(userId), authenticator.sealedSecret);
  // The operator has lost the key. Recovery codes still work, since no key seals them.
  if (!opened) throw new Error('IDENTITY_ENCRYPTION_KEY does not open the secret of an authenticator app');
  const now = clock();
  const step = await findStep(opened.plain, code, now);
  if (step === undefined) return undefined;
  const sealedSecret = opened.isCurrent
    ? authenticator.sealedSecret
    : await seal(config.encryptionKeys, secretContext(userId), opened.plain);
  return { kind: 'code', consume: (trx) => consumeStep(trx, { userId, step, sealedSecret, now }) };
}

/** The context that the secret of a user's authenticator app is sealed for. */
export const secretContext = (userId: string) => `authenticator ${userId}`;

// Checking a code of somebody's authenticator app.
import type { Database } from '../../../db/postgres/client.ts';
import { consumeStep, findAuthenticator } from '../../../db/tables/authenticators.ts';
import type { Dependencies } from '../../instance/dependencies.ts';
import { seal, unseal } from '../ground/sealing.ts';
import { findStep } from './totp.ts';

/** What uses the code up, or undefined if the code is wrong. */
export async function readAuthenticatorCode(
  { db, config, now: clock }: Dependencies,
  userId: string,
  code: string,
): Promise<((trx: Database) => Promise<boolean>) | undefined> {
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
  return (trx) => consumeStep(trx, { userId, step, sealedSecret, now });
}

/** The context that the secret of a user's authenticator app is sealed for. */
export const secretContext = (userId: string) => `authenticator ${userId}`;

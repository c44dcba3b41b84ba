// Checks the use of a passkey as section 7.2 of WebAuthn asks. `consumePasskey` accepts each challenge only one time.
import { z } from 'zod';
import type { Database } from '../../../db/postgres/client.ts';
import { findPasskey, type Passkey, recordPasskeyUse } from '../../../db/tables/passkeys.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { type ChallengeUse, consumeChallenge, type OpenChallenge } from './passkey-challenges.ts';
import {
  bytesSchema,
  checkClientData,
  credentialShape,
  loadWebAuthn,
  nameUser,
  originOf,
  PasskeyRefusal,
  readJson,
  refuse,
  rpIdOf,
} from './webauthn.ts';

const assertionSchema = z.object({
  ...credentialShape,
  response: z.object({
    clientDataJSON: bytesSchema,
    authenticatorData: bytesSchema,
    signature: bytesSchema,
    userHandle: bytesSchema.optional(),
  }),
});

export type Assertion = { passkey: Passkey; challenge: OpenChallenge; counter: number; backedUp: boolean };

/** `text` is what the browser's script posted. Throws a PasskeyRefusal. */
export async function checkAssertion(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  use: ChallengeUse,
  text: string,
): Promise<Assertion> {
  const assertion = readJson(assertionSchema, text);
  const challenge = await checkClientData(deps, request, use, assertion.response.clientDataJSON);
  const passkey = await findPasskey(deps.db, assertion.id);
  if (!passkey) throw new PasskeyRefusal('unknown_passkey');
  const { userHandle } = assertion.response;
  const owner = nameUser(passkey.userId);
  // The authenticator must name the user only at a login. Elsewhere we know already whose passkey it must be.
  const isOwner = userHandle === owner || (userHandle === undefined && use.purpose !== 'login');
  if (!isOwner || (use.userId !== undefined && use.userId !== passkey.userId))
    throw new PasskeyRefusal('other_user', passkey.userId);
  const { verifyAuthenticationResponse } = await loadWebAuthn(visit);
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...assertion, clientExtensionResults: {} },
    expectedChallenge: () => true,
    expectedOrigin: originOf(deps),
    expectedRPID: rpIdOf(deps),
    // With 0 the library accepts any counter. `consumePasskey` compares the counter in the statement that stores it.
    credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    requireUserVerification: true,
  }).catch((error) => refuse(error, passkey.userId));
  if (!verified) throw new PasskeyRefusal('signature', passkey.userId);
  const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
  return { passkey, challenge, counter, backedUp };
}

/**
 * Returns undefined if the use is accepted, or else the reason for the refusal. Each challenge is accepted only once. The caller
 * has locked the user.
 */
export async function consumePasskey(
  trx: Database,
  { now }: Pick<Dependencies, 'now'>,
  { passkey: { id }, challenge, counter, backedUp }: Assertion,
): Promise<'challenge_used' | 'counter' | undefined> {
  if (!(await consumeChallenge(trx, challenge))) return 'challenge_used';
  return (await recordPasskeyUse(trx, { id, counter, backedUp, now: now() })) ? undefined : 'counter';
}

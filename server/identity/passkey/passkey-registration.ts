// Checks a new passkey as section 7.1 of WebAuthn asks, but leaves out the attestation, in which a maker vouches for its
// authenticator.
import { z } from 'zod';
import type { Passkey } from '../../../db/tables/passkeys.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import type { ChallengeUse, OpenChallenge } from './passkey-challenges.ts';
import {
  bytesSchema,
  checkClientData,
  credentialShape,
  loadWebAuthn,
  originOf,
  PasskeyRefusal,
  readJson,
  refuse,
  rpIdOf,
  type WebAuthn,
} from './webauthn.ts';

const registrationSchema = z.object({
  ...credentialShape,
  response: z.object({
    clientDataJSON: bytesSchema,
    attestationObject: bytesSchema,
    transports: z.array(z.string()).optional(),
  }),
});

const knownTransports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

// ES256 and RS256. Authenticators can make these signatures, and every runtime can check them.
export const algorithms = [-7, -257];

// Room for an RSA key of 8,192 bits. Other keys are shorter.
const maxKeyBytes = 2_048;

/** `text` is what the browser's script posted. Throws a PasskeyRefusal. */
export async function checkRegistration(
  deps: Dependencies,
  request: Request,
  visit: Visit,
  use: ChallengeUse,
  text: string,
): Promise<{ created: Omit<Passkey, 'id' | 'userId' | 'name'>; challenge: OpenChallenge }> {
  const registration = readJson(registrationSchema, text);
  const challenge = await checkClientData(deps, request, use, registration.response.clientDataJSON);
  const webAuthn = await loadWebAuthn(visit);
  const { clientDataJSON } = registration.response;
  const attestationObject = await dropAttestation(webAuthn, registration).catch(refuse);
  const { verified, registrationInfo } = await webAuthn
    .verifyRegistrationResponse({
      response: {
        ...registration,
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: () => true,
      expectedOrigin: originOf(deps),
      expectedRPID: rpIdOf(deps),
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    })
    .catch(refuse);
  if (!verified) throw new PasskeyRefusal('malformed');
  const { id: credentialId, publicKey, counter } = registrationInfo.credential;
  if (credentialId !== registration.id || publicKey.length > maxKeyBytes)
    throw new PasskeyRefusal('malformed');
  const given = registration.response.transports ?? [];
  const transports = knownTransports.filter((transport) => given.includes(transport));
  const backedUp = registrationInfo.credentialBackedUp;
  return { created: { credentialId, publicKey, counter, transports, backedUp }, challenge };
}

/** Removes the attestation. For some attestations the library would fetch lists from URLs that the sender chose. */
async function dropAttestation(
  { decodeAttestationObject, isoBase64URL, isoCBOR }: WebAuthn,
  { response }: z.infer<typeof registrationSchema>,
): Promise<string> {
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(response.attestationObject)).get('authData');
  if (!(authData instanceof Uint8Array)) throw new PasskeyRefusal('malformed');
  const bare = new Map<string, Parameters<typeof isoCBOR.encode>[0]>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(bare));
}

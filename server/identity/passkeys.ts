// What a browser says about a passkey, checked as WebAuthn asks (https://www.w3.org/TR/webauthn-3/, sections 7.1 and 7.2):
// made for our origin and host, by somebody whom the authenticator has verified, for a challenge of ours.
import { base64url } from 'oslo/encoding';
import { z } from 'zod';
import { findPasskey, type Passkey, recordPasskeyUse } from '../../db/passkeys.ts';
import type { Database } from '../../db/postgres/client.ts';
import type { Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import {
  type ChallengeUse,
  consumeChallenge,
  type OpenChallenge,
  openChallenge,
} from './passkey-challenges.ts';

/** Why a passkey was refused. For logs and the audit trail only: outside they are all the same. */
export type PasskeyReason =
  | 'malformed'
  | 'unknown_passkey'
  | 'other_user'
  | 'challenge'
  | 'origin'
  | 'rp_id'
  | 'user_verification'
  | 'signature'
  | 'challenge_used'
  | 'counter';

export class PasskeyRefusal extends Error {
  readonly reason: PasskeyReason;

  constructor(reason: PasskeyReason) {
    super(`passkey refused: ${reason}`);
    this.reason = reason;
  }
}

const bytes = z.string().regex(/^[\w-]+$/);
// At most 1,023 bytes.
const credentialId = bytes.max(1_364);
const credential = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };

const assertionSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes.optional(),
  }),
});

const registrationSchema = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string()).optional(),
  }),
});

const clientDataSchema = z.object({
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
});

const knownTransports = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

// ES256 and RS256: what authenticators can do, and every runtime.
export const algorithms = [-7, -257];

/** Our name in WebAuthn. */
export const rpIdOf = ({ config }: Pick<Services, 'config'>) => new URL(config.issuer).hostname;

/** What an authenticator knows a user by. */
export const userHandleOf = (userId: string) => new TextEncoder().encode(userId);

// Loaded when somebody first uses a passkey: most of it is about attestations, which we do not ask for. On a busy machine
// that takes a while, once.
const loadWebAuthn = ({ deadline }: Visit) =>
  deadline.pause(async () => ({
    ...(await import('@simplewebauthn/server')),
    ...(await import('@simplewebauthn/server/helpers')),
  }));

type WebAuthn = Awaited<ReturnType<typeof loadWebAuthn>>;

// An RSA key of 8,192 bits, and more than any other.
const maxKeyBytes = 2_048;

/** A right answer to a challenge, which `usePasskey` uses up. */
export type Assertion = { passkey: Passkey; challenge: OpenChallenge; counter: number; backedUp: boolean };

/** Throws a PasskeyRefusal. `text` is what the browser posted. */
export async function checkAssertion(
  services: Services,
  request: Request,
  visit: Visit,
  use: ChallengeUse,
  text: string,
): Promise<Assertion> {
  const assertion = readJson(assertionSchema, text);
  const challenge = await checkClientData(services, request, use, assertion.response.clientDataJSON);
  const passkey = await findPasskey(services.db, assertion.id);
  if (!passkey) throw new PasskeyRefusal('unknown_passkey');
  const { userHandle } = assertion.response;
  const owner = base64url.encode(userHandleOf(passkey.userId), { includePadding: false });
  // Only at a login it is the authenticator that says who it is.
  const isOwner = userHandle === owner || (userHandle === undefined && use.purpose !== 'login');
  if (!isOwner || (use.userId !== undefined && use.userId !== passkey.userId))
    throw new PasskeyRefusal('other_user');
  const { verifyAuthenticationResponse } = await loadWebAuthn(visit);
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...assertion, clientExtensionResults: {} },
    expectedChallenge: () => true,
    expectedOrigin: originOf(services),
    expectedRPID: rpIdOf(services),
    // The counter is compared once the signature is known to be right, by the statement that stores it.
    credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    requireUserVerification: true,
  }).catch(refuse);
  if (!verified) throw new PasskeyRefusal('signature');
  const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
  return { passkey, challenge, counter, backedUp };
}

/** Undefined for exactly one caller, or why it is refused. The user is locked. */
export async function usePasskey(
  trx: Database,
  { now }: Pick<Services, 'now'>,
  { passkey: { id }, challenge, counter, backedUp }: Assertion,
): Promise<'challenge_used' | 'counter' | undefined> {
  if (!(await consumeChallenge(trx, challenge))) return 'challenge_used';
  return (await recordPasskeyUse(trx, { id, counter, backedUp, now: now() })) ? undefined : 'counter';
}

/** A new passkey, and the challenge that it answers. Throws a PasskeyRefusal. */
export async function checkRegistration(
  services: Services,
  request: Request,
  visit: Visit,
  use: ChallengeUse,
  text: string,
): Promise<{ created: Omit<Passkey, 'id' | 'userId' | 'name'>; challenge: OpenChallenge }> {
  const registration = readJson(registrationSchema, text);
  const challenge = await checkClientData(services, request, use, registration.response.clientDataJSON);
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
      expectedOrigin: originOf(services),
      expectedRPID: rpIdOf(services),
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

/**
 * The same without what the maker of the authenticator says of it. We do not ask for that, and to check it the library
 * would fetch lists from addresses that the sender chose.
 */
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

/** What the browser itself says: which challenge it got, and on which page. */
async function checkClientData(
  services: Services,
  request: Request,
  use: ChallengeUse,
  clientDataJSON: string,
): Promise<OpenChallenge> {
  const said = readJson(clientDataSchema, decode(clientDataJSON));
  // No page of ours is ever in a frame.
  if (said.origin !== originOf(services) || said.crossOrigin) throw new PasskeyRefusal('origin');
  const challenge = await openChallenge(services, request, use, said.challenge);
  if (!challenge) throw new PasskeyRefusal('challenge');
  return challenge;
}

const originOf = ({ config }: Pick<Services, 'config'>) => new URL(config.issuer).origin;

function decode(text: string): string {
  try {
    return new TextDecoder().decode(base64url.decode(text, { strict: false }));
  } catch {
    throw new PasskeyRefusal('malformed');
  }
}

function readJson<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new PasskeyRefusal('malformed');
  }
}

/** The library says why in words only. */
function refuse(error: unknown): never {
  if (error instanceof PasskeyRefusal) throw error;
  const words = error instanceof Error ? error.message : '';
  if (/RP ID/i.test(words)) throw new PasskeyRefusal('rp_id');
  if (/could not be verified|not present/.test(words)) throw new PasskeyRefusal('user_verification');
  throw new PasskeyRefusal('malformed');
}

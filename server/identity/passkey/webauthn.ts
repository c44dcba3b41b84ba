// Checks for both the use of a passkey (passkey-assertion.ts) and a new passkey (passkey-registration.ts), as WebAuthn asks
// (https://www.w3.org/TR/webauthn-3/).
import { base64url } from 'oslo/encoding';
import { z } from 'zod';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { Visit } from '../../web/requests.ts';
import { type ChallengeUse, type OpenChallenge, openChallenge, readText } from './passkey-challenges.ts';

/** The reasons are only for logs and the audit trail. To the sender, all refusals look the same. */
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
  readonly userId: string | undefined;

  constructor(reason: PasskeyReason, userId?: string) {
    super(`passkey refused: ${reason}`);
    this.reason = reason;
    this.userId = userId;
  }
}

export const bytesSchema = z.string().regex(/^[\w-]+$/);
// An id has at most 1,023 bytes, so it has at most 1,364 characters.
const credentialId = bytesSchema.max(1_364);
export const credentialShape = { id: credentialId, rawId: credentialId, type: z.literal('public-key') };

const clientDataSchema = z.object({
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
});

export const rpIdOf = ({ config }: Pick<Dependencies, 'config'>) => new URL(config.issuer).hostname;

/** Returns the user handle of WebAuthn, in base64url. */
export const nameUser = (userId: string): string =>
  base64url.encode(new TextEncoder().encode(userId), { includePadding: false });

// The library is loaded on first use, because loading takes a while. Most of it is for attestations, and we ask for none.
export const loadWebAuthn = ({ deadline }: Visit) =>
  deadline.pause(async () => ({
    ...(await import('@simplewebauthn/server')),
    ...(await import('@simplewebauthn/server/helpers')),
  }));

export type WebAuthn = Awaited<ReturnType<typeof loadWebAuthn>>;

/** Throws a PasskeyRefusal for another origin, a frame, or a challenge that is not open. */
export async function checkClientData(
  deps: Dependencies,
  request: Request,
  use: ChallengeUse,
  clientDataJSON: string,
): Promise<OpenChallenge> {
  const said = readJson(clientDataSchema, readText(clientDataJSON) ?? '');
  // Our pages are never in a frame, so nobody can use a passkey in a frame.
  if (said.origin !== originOf(deps) || said.crossOrigin) throw new PasskeyRefusal('origin');
  const challenge = await openChallenge(deps, request, use, said.challenge);
  if (!challenge) throw new PasskeyRefusal('challenge');
  return challenge;
}

export const originOf = ({ config }: Pick<Dependencies, 'config'>) => new URL(config.issuer).origin;

export function readJson<T>(schema: z.ZodType<T>, text: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new PasskeyRefusal('malformed');
  }
}

/** The library gives its reason only in words, so this function finds the reason in those words. */
export function refuse(error: unknown, userId?: string): never {
  if (error instanceof PasskeyRefusal) throw error;
  const words = error instanceof Error ? error.message : '';
  if (/RP ID/i.test(words)) throw new PasskeyRefusal('rp_id', userId);
  if (/could not be verified|not present/.test(words)) throw new PasskeyRefusal('user_verification', userId);
  throw new PasskeyRefusal('malformed', userId);
}

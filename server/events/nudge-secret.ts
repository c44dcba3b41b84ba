// What nudges to a client are signed with (contract 10.33): a secret made from the one that we share, so that each has one use,
// in the form that libraries for Standard Webhooks take.
import { base64 } from 'oslo/encoding';
import { hmacSha256 } from '../sso/hmac.ts';

const encoder = new TextEncoder();

/** `whsec_` and the base64 of 32 bytes. */
export async function buildNudgeSecret(client: string, secret: string): Promise<string> {
  const message = encoder.encode(`identity webhooks v1 ${client}`);
  return `whsec_${base64.encode(await hmacSha256(encoder.encode(secret), message))}`;
}

// What nudges to a client are signed with (contract 10.33): made from the secret that we share, which so never serves
// two ends, and in the form that libraries for Standard Webhooks take.
import { base64 } from 'oslo/encoding';
import { hmacSha256 } from '../sso/hmac.ts';

const encoder = new TextEncoder();

/** `whsec_` and the base64 of 32 bytes. */
export async function buildNudgeSecret(client: string, secret: string): Promise<string> {
  const message = encoder.encode(`identity webhooks v1 ${client}`);
  return `whsec_${base64.encode(await hmacSha256(encoder.encode(secret), message))}`;
}

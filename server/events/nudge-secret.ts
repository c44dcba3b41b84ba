// The secret for nudges is derived from the shared secret, so that each secret has one use (contract 10.33). It has the form
// that libraries for Standard Webhooks expect.
import { base64 } from 'oslo/encoding';
import { hmacSha256 } from '../sso/hmac.ts';

const encoder = new TextEncoder();

export async function buildNudgeSecret(client: string, secret: string): Promise<string> {
  const message = encoder.encode(`identity webhooks v1 ${client}`);
  return `whsec_${base64.encode(await hmacSha256(encoder.encode(secret), message))}`;
}

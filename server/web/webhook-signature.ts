// The signature of a webhook: Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric, `v1`.

import { base64 } from 'oslo/encoding';
import { AppError } from '../basics/errors.ts';
import { readHeader } from '../basics/text.ts';
import { findMatch, hmacSha256 } from '../sso/hmac.ts';

const toleranceSeconds = 300;

/** The reason for a refusal if only the time was wrong. Then somebody's clock is wrong, but the secret is right. */
export const outOfDate = 'out_of_date';

export type WebhookMessage = { id: string; timestamp: string; body: Uint8Array };

/** Returns `v1,<base64>`. `secret` is `whsec_` and the base64 of the key. */
export async function signWebhook(secret: string, { id, timestamp, body }: WebhookMessage): Promise<string> {
  const key = base64.decode(secret.slice('whsec_'.length));
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const message = new Uint8Array(start.length + body.length);
  message.set(start);
  message.set(body, start.length);
  return `v1,${base64.encode(await hmacSha256(key, message))}`;
}

/** Returns the `webhook-id`, and the index of the secret that signed it. Throws 401 `invalid_webhook_signature`. */
export async function requireWebhookSignature(
  headers: Headers,
  body: Uint8Array,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): Promise<{ id: string; secret: number }> {
  const id = readHeader(headers, 'webhook-id') ?? '';
  const timestamp = readHeader(headers, 'webhook-timestamp') ?? '';
  if (!/^[A-Za-z0-9_-]{1,255}$/.test(id))
    throw refusal('webhook-id must be 1 to 255 of the characters A-Z a-z 0-9 _ -');
  if (!/^\d{10}$/.test(timestamp))
    throw refusal('webhook-timestamp must be a Unix time in seconds, with ten digits.');
  // Signatures are compared as text, so that only the canonical spelling of base64 passes.
  const expected = await Promise.all(secrets.map((secret) => signWebhook(secret, { id, timestamp, body })));
  const secret = findMatch(expected, (readHeader(headers, 'webhook-signature') ?? '').split(' '));
  if (secret === undefined) {
    throw refusal('No signature in webhook-signature matches the id, the timestamp and the body.');
  }
  // The time is checked last. Anybody can send an old time, but with a correct signature it shows that a clock is wrong.
  const age = Math.floor(now.getTime() / 1_000) - Number(timestamp);
  if (Math.abs(age) > toleranceSeconds) {
    throw refusal(
      `webhook-timestamp must be within ${toleranceSeconds} seconds of the current time.`,
      outOfDate,
    );
  }
  return { id, secret };
}

const refusal = (detail: string, reason?: string) =>
  new AppError('invalid_webhook_signature', { detail, reason });

// The credential of a webhook: Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric, `v1`.
import { base64 } from 'oslo/encoding';
import { AppError } from '../errors.ts';
import { hmacSha256, matchesAny } from '../sso/hmac.ts';

const toleranceSeconds = 300;

export type WebhookMessage = { id: string; timestamp: string; body: Uint8Array };

/** `v1,<base64>`; `secret` is `whsec_` and the base64 of the key. */
export function signWebhook(secret: string, { id, timestamp, body }: WebhookMessage): string {
  const key = base64.decode(secret.slice('whsec_'.length));
  return `v1,${base64.encode(hmacSha256(key, `${id}.${timestamp}.`, body))}`;
}

/**
 * The `webhook-id` of a message that is genuine and recent. Throws 401 `invalid_webhook_signature`. Takes the
 * body as it arrived.
 */
export async function requireWebhookSignature(
  headers: Headers,
  body: Uint8Array,
  { secrets, now }: { secrets: readonly string[]; now: Date },
): Promise<string> {
  const id = headers.get('webhook-id') ?? '';
  const timestamp = headers.get('webhook-timestamp') ?? '';
  if (!/^[A-Za-z0-9_-]{1,255}$/.test(id)) throw refusal('webhook-id must be 1 to 255 of A-Z a-z 0-9 _ -');
  if (!/^\d{10}$/.test(timestamp)) throw refusal('webhook-timestamp must be Unix seconds, ten digits.');
  const age = Math.floor(now.getTime() / 1_000) - Number(timestamp);
  if (Math.abs(age) > toleranceSeconds) {
    throw refusal(`webhook-timestamp must be within ${toleranceSeconds} seconds of the present.`);
  }
  // Compared as text: in the one right spelling of base64.
  const expected = secrets.map((secret) => signWebhook(secret, { id, timestamp, body }));
  if (!matchesAny(expected, (headers.get('webhook-signature') ?? '').split(' '))) {
    throw refusal(
      'No signature in webhook-signature matches the id, the timestamp and the body as received.',
    );
  }
  return id;
}

const refusal = (detail: string) => new AppError('invalid_webhook_signature', { detail });

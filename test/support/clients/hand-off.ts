// The hand-off of the contract's worked example, and ways to make a wrong hand-off with a correct signature.
import { base64url } from 'oslo/encoding';
import { type VerifyOptions, verifyEnvelope } from '../../../server/sso/envelope.ts';
import { sign } from '../../../server/sso/hmac.ts';
import { type Payload, payloadSchema } from '../../../server/sso/payload.ts';
import vectors from '../../sso-vectors.json' with { type: 'json' };
import { setMember } from '../run/cases.ts';

export const example = vectors.sso;

export function buildPayload(): Payload {
  return JSON.parse(example.json);
}

/** The worked example's JSON, with other values at some paths, such as `profile.id`. The value undefined removes a member. */
export function writePayload(changes: Record<string, unknown> = {}): string {
  const payload = buildPayload();
  for (const [path, value] of Object.entries(changes)) setMember(payload, path, value);
  return JSON.stringify(payload);
}

export function encodePayload(json: string | Uint8Array): string {
  const bytes = typeof json === 'string' ? new TextEncoder().encode(json) : json;
  return base64url.encode(bytes, { includePadding: false });
}

/** Signs a payload correctly, even if its base64url is not canonical. */
export async function signPayload(payload: string, secret = example.secret): Promise<URLSearchParams> {
  return new URLSearchParams({ payload, signature: await sign(secret, payload) });
}

/** Encodes and signs JSON correctly, even if the JSON is wrong. */
export function signJson(json: string | Uint8Array): Promise<URLSearchParams> {
  return signPayload(encodePayload(json));
}

type OpenOptions = VerifyOptions<Payload> & {
  consumeNonce: (nonce: string, keepUntil: Date) => Promise<boolean>;
};

/**
 * Does what a receiver of the worked example does: verifies, then uses the nonce up. The given options replace the receiver's
 * own.
 */
export async function open(
  params: URLSearchParams,
  { consumeNonce = async () => true, ...options }: Partial<OpenOptions> = {},
): Promise<Payload> {
  const { iss, aud, ttl, now } = example.verifier;
  const { claims, keepNonceUntil } = await verifyEnvelope(params, {
    secrets: [example.secret],
    schema: payloadSchema,
    iss,
    aud,
    ttlSeconds: ttl,
    now: new Date(now * 1_000),
    ...options,
  });
  if (!(await consumeNonce(claims.nonce, keepNonceUntil))) {
    throw Object.assign(new Error('used before'), { code: 'nonce_replayed', reason: 'nonce used before' });
  }
  return claims;
}

// A hand-off as the contract's worked example has it, and ways to make a wrong one that is rightly signed.
import { base64url } from 'oslo/encoding';
import { type OpenOptions, openEnvelope } from '../../server/sso/envelope.ts';
import { sign } from '../../server/sso/hmac.ts';
import { type Payload, payloadSchema } from '../../server/sso/payload.ts';
import vectors from '../sso-vectors.json' with { type: 'json' };

export const example = vectors.sso;

/** The payload of the worked example, parsed afresh. */
export function buildPayload(): Payload {
  return JSON.parse(example.json);
}

/** The worked example's JSON with the values at some paths (`profile.id`) replaced; undefined takes one away. */
export function writePayload(changes: Record<string, unknown> = {}): string {
  const payload: Record<string, unknown> = { ...buildPayload() };
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    const parent = names.reduce((at, name) => at[name] as Record<string, unknown>, payload);
    parent[last] = value;
  }
  return JSON.stringify(payload);
}

export function encodePayload(json: string | Uint8Array): string {
  const bytes = typeof json === 'string' ? new TextEncoder().encode(json) : json;
  return base64url.encode(bytes, { includePadding: false });
}

/** Rightly signed, whatever the payload's spelling is. */
export async function signPayload(payload: string, secret = example.secret): Promise<URLSearchParams> {
  return new URLSearchParams({ payload, signature: await sign(secret, payload) });
}

/** Rightly spelt and signed, whatever the JSON is. */
export function signJson(json: string | Uint8Array): Promise<URLSearchParams> {
  return signPayload(encodePayload(json));
}

/** The verifier of the worked example, with some of its settings changed. */
export function open(params: URLSearchParams, options: Partial<OpenOptions<Payload>> = {}): Promise<Payload> {
  const { iss, aud, ttl, now } = example.verifier;
  return openEnvelope(params, {
    secrets: [example.secret],
    schema: payloadSchema,
    iss,
    aud,
    ttlSeconds: ttl,
    now: new Date(now * 1_000),
    consumeNonce: async () => true,
    ...options,
  });
}

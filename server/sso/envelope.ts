// Seals and verifies hand-offs (contract 3.19 to 3.24). Both functions are pure: the caller passes the clock, and uses up the
// nonce. This file imports nothing else from this service, so that clients can copy it.
import { base64url } from 'oslo/encoding';
import type { z } from 'zod';
import { findMatch, sign } from './hmac.ts';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';

export const maxPayloadLength = 8_192;
const leewaySeconds = 30;

/** `code` is public. `reason` says exactly what failed: log it, and never show it to the sender. */
export class EnvelopeError extends Error {
  readonly code: 'invalid_request' | 'malformed_payload' | 'invalid_signature' | 'payload_expired';
  readonly reason: string;

  constructor(code: EnvelopeError['code'], reason: string) {
    super(`${code}: ${reason}`);
    this.code = code;
    this.reason = reason;
  }
}

/** 22 characters: 16 random bytes in unpadded base64url. */
export function createNonce(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(16)), { includePadding: false });
}

/** A second secret makes `signature_next` (contract 8.30). Throws a RangeError if the payload is too long for a verifier. */
export async function sealEnvelope(
  payload: object,
  secrets: readonly string[],
): Promise<{ payload: string; signature: string; signature_next?: string }> {
  const [secret, next] = secrets;
  if (!secret) throw new TypeError('sealEnvelope needs a secret');
  const wire = base64url.encode(new TextEncoder().encode(JSON.stringify(payload)), { includePadding: false });
  if (wire.length > maxPayloadLength) throw new RangeError('payload too long');
  return {
    payload: wire,
    signature: await sign(secret, wire),
    ...(next && { signature_next: await sign(next, wire) }),
  };
}

export type Claims = { iss: string; aud: string; client: string; iat: number; exp: number; nonce: string };

export type VerifyOptions<T extends Claims> = {
  /** A signature made with any of these secrets is accepted. */
  secrets: readonly string[];
  schema: z.ZodType<T>;
  /** `iss` and `aud` must match byte for byte. */
  iss: string;
  aud: string;
  /** The value that `client` must have. The default is `aud`. */
  client?: string;
  /** The longest lifetime to accept. */
  ttlSeconds: number;
  now: Date;
};

export type VerifiedEnvelope<T extends Claims> = {
  claims: T;
  /** The index of the secret that signed the hand-off. If several did, the index of the last one. */
  secret: number;
  /** After this time no verifier accepts the hand-off, even with its leeway. */
  keepNonceUntil: Date;
};

/**
 * Checks parameters as received, in the order of the contract: spelling, MAC, JSON, schema, issuer, audience, time. Throws an
 * EnvelopeError. A hand-off may be accepted only one time: before you act on the claims, store `claims.nonce` until
 * `keepNonceUntil`, in one statement that fails if the nonce is there already.
 */
export async function verifyEnvelope<T extends Claims>(
  params: URLSearchParams,
  options: VerifyOptions<T>,
): Promise<VerifiedEnvelope<T>> {
  const { payload, signatures } = readParameters(params);
  const bytes = decodePayload(payload);
  if (!signatures.every((text) => /^[0-9a-f]{64}$/.test(text)))
    throw new EnvelopeError('malformed_payload', 'signature spelling');

  const expected = await Promise.all(options.secrets.map((secret) => sign(secret, payload)));
  const secret = findMatch(expected, signatures);
  if (secret === undefined) {
    throw new EnvelopeError('invalid_signature', 'mac');
  }

  const claims = readClaims(bytes, options.schema);
  if (claims.iss !== options.iss) throw new EnvelopeError('invalid_signature', 'iss');
  if (claims.aud !== options.aud) throw new EnvelopeError('invalid_signature', 'aud');
  if (claims.client !== (options.client ?? options.aud))
    throw new EnvelopeError('invalid_signature', 'client');
  requireTimely(claims, options);

  return { claims, secret, keepNonceUntil: new Date((claims.exp + 60) * 1_000) };
}

function readParameters(params: URLSearchParams): { payload: string; signatures: string[] } {
  const payload = readOnce(params, 'payload');
  const signature = readOnce(params, 'signature');
  const next = readOnce(params, 'signature_next');
  if (payload === undefined) throw new EnvelopeError('invalid_request', 'payload missing');
  if (signature === undefined) throw new EnvelopeError('invalid_request', 'signature missing');
  return { payload, signatures: next === undefined ? [signature] : [signature, next] };
}

function readOnce(params: URLSearchParams, name: string): string | undefined {
  const values = params.getAll(name);
  if (values.length > 1) throw new EnvelopeError('invalid_request', `${name} repeated`);
  return values[0];
}

/** Four characters spell three bytes in exactly one way. So only the end can have bits that a decoder ignores. */
function isCanonical(text: string, bytes: Uint8Array): boolean {
  const end = bytes.length - (bytes.length % 3);
  return base64url.encode(bytes.subarray(end), { includePadding: false }) === text.slice((end / 3) * 4);
}

/** Accepts only the canonical spelling, because decoders accept several spellings of the same bytes. */
function decodePayload(text: string): Uint8Array {
  if (text.length === 0 || text.length > maxPayloadLength)
    throw new EnvelopeError('malformed_payload', 'payload length');
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new EnvelopeError('malformed_payload', 'payload alphabet');
  let bytes: Uint8Array | undefined;
  try {
    bytes = decode(text);
  } catch {
    // If the length is wrong, the check below refuses the text.
  }
  if (!bytes || !isCanonical(text, bytes)) throw new EnvelopeError('malformed_payload', 'payload spelling');
  return bytes;
}

/** Decodes like oslo, in a sixth of the time. Throws if the text is not base64url. */
function decode(text: string): Uint8Array {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

function readClaims<T>(bytes: Uint8Array, schema: z.ZodType<T>): T {
  let json: unknown;
  try {
    json = parseStrictJson(bytes);
  } catch (error) {
    if (error instanceof StrictJsonError) throw new EnvelopeError('malformed_payload', error.message);
    throw error;
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') || 'the whole';
  throw new EnvelopeError('malformed_payload', `schema: ${at}`);
}

function requireTimely({ iat, exp }: Claims, { now, ttlSeconds }: { now: Date; ttlSeconds: number }): void {
  const nowSeconds = Math.floor(now.getTime() / 1_000);
  // Each line says what must be true. A comparison with NaN is false, so a clock or TTL that is no number leads to a refusal.
  if (!(iat <= nowSeconds + leewaySeconds)) throw new EnvelopeError('payload_expired', 'iat in the future');
  if (!(nowSeconds < exp + leewaySeconds)) throw new EnvelopeError('payload_expired', 'exp');
  if (!(exp > iat && exp - iat <= ttlSeconds)) throw new EnvelopeError('payload_expired', 'lifetime');
}

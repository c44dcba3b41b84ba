// The signed hand-off: seal and open, one module, pure. The clock and the nonce check are passed in, so the
// same code signs here, verifies in a client, and verifies what a legacy system hands us.
//
// A client may copy this folder (envelope, hmac, payload, strict-json): it needs `oslo` and `zod`, Node or Deno, and
// imports nothing else of this service.
import { base64url } from 'oslo/encoding';
import type { z } from 'zod';
import { matchesAny, sign } from './hmac.ts';
import { parseStrictJson, StrictJsonError } from './strict-json.ts';

const maxPayloadLength = 8_192;
const leewaySeconds = 30;

/** The public code of a refusal; `reason` says precisely what failed and is for logs, not for the sender. */
export class EnvelopeError extends Error {
  readonly code:
    | 'invalid_request'
    | 'malformed_payload'
    | 'invalid_signature'
    | 'payload_expired'
    | 'nonce_replayed';
  readonly reason: string;

  constructor(code: EnvelopeError['code'], reason: string) {
    super(`${code}: ${reason}`);
    this.code = code;
    this.reason = reason;
  }
}

export type SealedEnvelope = { payload: string; signature: string; signature_next?: string };

/**
 * The query parameters of a hand-off. With two secrets the second makes `signature_next`: a rotation is on.
 * Throws a RangeError where the payload would be longer than any verifier takes.
 */
export async function sealEnvelope(payload: object, secrets: readonly string[]): Promise<SealedEnvelope> {
  const [secret, next] = secrets;
  if (!secret) throw new TypeError('sealEnvelope needs a secret');
  const wire = base64url.encode(new TextEncoder().encode(JSON.stringify(payload)), { includePadding: false });
  if (wire.length > maxPayloadLength) throw new RangeError('payload too long');
  return {
    payload: wire,
    signature: sign(secret, wire),
    ...(next && { signature_next: sign(next, wire) }),
  };
}

export type Claims = { iss: string; aud: string; client: string; iat: number; exp: number; nonce: string };

export type OpenOptions<T extends Claims> = {
  /** Any of them may have signed. */
  secrets: readonly string[];
  schema: z.ZodType<T>;
  /** Who must have made it, byte for byte. */
  iss: string;
  /** Whom it must be for. */
  aud: string;
  /** What `client` must say; the same as `aud` unless told. */
  client?: string;
  /** The longest life that is accepted, in seconds. */
  ttlSeconds: number;
  now: Date;
  /**
   * Uses the nonce up: true for the first caller only, in one guarded statement. Keep it until `expiresAt`.
   * It runs last, so that nothing but a genuine and timely hand-off has an effect.
   */
  consumeNonce: (nonce: string, expiresAt: Date) => Promise<boolean>;
};

/**
 * The verified payload of a hand-off, from the query parameters as received. Throws an EnvelopeError.
 * The order is the contract's: spelling, MAC, JSON, schema, issuer, audience, time, nonce.
 */
export async function openEnvelope<T extends Claims>(
  params: URLSearchParams,
  options: OpenOptions<T>,
): Promise<T> {
  const payload = readOnce(params, 'payload');
  const signature = readOnce(params, 'signature');
  if (payload === undefined) throw new EnvelopeError('invalid_request', 'payload missing');
  if (signature === undefined) throw new EnvelopeError('invalid_request', 'signature missing');
  const next = readOnce(params, 'signature_next');
  const signatures = next === undefined ? [signature] : [signature, next];
  const bytes = readPayload(payload);
  for (const text of signatures) {
    if (!/^[0-9a-f]{64}$/.test(text)) throw new EnvelopeError('malformed_payload', 'signature spelling');
  }

  const expected = options.secrets.map((secret) => sign(secret, payload));
  if (!matchesAny(expected, signatures)) {
    throw new EnvelopeError('invalid_signature', 'mac');
  }

  const claims = readClaims(bytes, options.schema);
  if (claims.iss !== options.iss) throw new EnvelopeError('invalid_signature', 'iss');
  if (claims.aud !== options.aud) throw new EnvelopeError('invalid_signature', 'aud');
  if (claims.client !== (options.client ?? options.aud))
    throw new EnvelopeError('invalid_signature', 'client');
  requireTimely(claims, options);

  // Kept a little longer than any verifier with leeway would take it.
  const keepUntil = new Date((claims.exp + 60) * 1_000);
  if (!(await options.consumeNonce(claims.nonce, keepUntil)))
    throw new EnvelopeError('nonce_replayed', 'nonce used before');
  return claims;
}

function readOnce(params: URLSearchParams, name: string): string | undefined {
  const values = params.getAll(name);
  if (values.length > 1) throw new EnvelopeError('invalid_request', `${name} repeated`);
  return values[0];
}

/** Each four characters are three bytes, one way only; but of the last few characters some bits may count for nothing. */
function isCanonical(text: string, bytes: Uint8Array): boolean {
  const end = bytes.length - (bytes.length % 3);
  return base64url.encode(bytes.subarray(end), { includePadding: false }) === text.slice((end / 3) * 4);
}

/** Unpadded base64url in its one canonical spelling: decoders accept several for the same bytes. */
function readPayload(text: string): Uint8Array {
  if (text.length === 0 || text.length > maxPayloadLength)
    throw new EnvelopeError('malformed_payload', 'payload length');
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new EnvelopeError('malformed_payload', 'payload alphabet');
  let bytes: Uint8Array | undefined;
  try {
    bytes = decode(text);
  } catch {
    // Falls through to the refusal.
  }
  if (!bytes || !isCanonical(text, bytes)) throw new EnvelopeError('malformed_payload', 'payload spelling');
  return bytes;
}

/** The same as oslo's decoder, which takes six times as long. Throws where it is not base64url at all. */
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
  // Each says what must hold, so that a clock or TTL that is no number holds nothing.
  if (!(iat <= nowSeconds + leewaySeconds)) throw new EnvelopeError('payload_expired', 'iat in the future');
  if (!(nowSeconds < exp + leewaySeconds)) throw new EnvelopeError('payload_expired', 'exp');
  if (!(exp > iat && exp - iat <= ttlSeconds)) throw new EnvelopeError('payload_expired', 'lifetime');
}

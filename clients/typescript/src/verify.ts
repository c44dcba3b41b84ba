// Verifies a hand-off, without side effects. The caller passes the time, compares the state and uses the nonce up.
import { type Bytes, fromBase64url, fromHex, isSignedByAny, launchId, utf8 } from './bytes.ts';
import { findWrongMember, type HandOff } from './hand-off.ts';
import { Refusal } from './refusals.ts';
import { parseStrictJson } from './strict-json.ts';

export const maxPayloadLength = 8_192;
const leewaySeconds = 30;
const known = ['payload', 'signature', 'signature_next', 'state', 'error'] as const;

export type VerifyOptions = {
  /** One secret, or two during a rotation. A signature counts if either secret made it. */
  secrets: readonly string[];
  /** The issuer of hand-offs, byte for byte. */
  issuer: string;
  /** Your client's name at the identity service. */
  client: string;
  /** The longest lifetime to accept. */
  ttlSeconds?: number;
  now: Date;
};

/**
 * Returns the payload of a genuine hand-off, or throws a Refusal. `query` is the query of the callback as it arrived.
 *
 * A hand-off works once, and only in the browser that asked for it. So before you act on it, compare its `state`. Then store its
 * `nonce` in one statement that fails if the nonce is there already. `handleCallback` does both.
 */
export async function verifyHandOff(query: URLSearchParams, options: VerifyOptions): Promise<HandOff> {
  try {
    return await verify(readQuery(query), options);
  } catch (error) {
    if (error instanceof Refusal) error.launchId ??= await findLaunchId(query);
    throw error;
  }
}

export type Query = Partial<Record<(typeof known)[number], string>>;

/** Throws if a parameter is repeated, because two readers could read different values. */
export function readQuery(query: URLSearchParams): Query {
  const found: Query = {};
  for (const name of known) {
    const [value, ...more] = query.getAll(name);
    if (more.length > 0) throw new Refusal('parameter_repeated', `${name} repeated`);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

async function verify({ payload, signature, signature_next: next }: Query, options: VerifyOptions) {
  if (payload === undefined) throw new Refusal('parameter_missing', 'payload missing');
  if (signature === undefined) throw new Refusal('parameter_missing', 'signature missing');
  const bytes = decodePayload(payload);
  const signatures = next === undefined ? [signature] : [signature, next];
  if (!signatures.every((text) => /^[0-9a-f]{64}$/.test(text)))
    throw new Refusal('signature_malformed', 'not 64 lower-case hex digits');
  const keys = options.secrets.map(utf8);
  if (!(await isSignedByAny(keys, signatures.map(fromHex), utf8(payload))))
    throw new Refusal('signature_wrong', 'signed with none of our secrets');

  const handOff = readHandOff(bytes);
  // The signature is right, so the payload is from somebody who has the secret. Two environments may share a secret, or the
  // setting may have a slash too many.
  if (handOff.iss !== options.issuer)
    throw new Refusal(
      'issuer_wrong',
      `iss is ${quote(handOff.iss)}, but our issuer is ${quote(options.issuer)}`,
    );
  if (handOff.aud !== options.client) throw new Refusal('audience_wrong', 'aud is not our name');
  if (handOff.client !== options.client) throw new Refusal('audience_wrong', 'client is not our name');
  requireTimely(handOff, options);
  return handOff;
}

const quote = (text: string) => JSON.stringify(text.slice(0, 255));

function decodePayload(payload: string): Bytes {
  const bytes = payload.length <= maxPayloadLength ? fromBase64url(payload) : undefined;
  if (!bytes || bytes.length === 0)
    throw new Refusal('payload_malformed', 'not unpadded base64url of 1 to 8,192 characters');
  return bytes;
}

function readHandOff(bytes: Bytes): HandOff {
  const value = readJson(bytes, 'json_malformed');
  const wrong = findWrongMember(value);
  if (wrong) throw new Refusal('member_wrong', `${wrong} is missing or not of its form`);
  return value as HandOff;
}

/** Throws a Refusal with this code and with the parser's reason. */
export function readJson(bytes: Bytes, code: 'json_malformed' | 'nudge_malformed'): unknown {
  try {
    return parseStrictJson(bytes);
  } catch (cause) {
    // The parser's own message is left out, because it could quote the text.
    const reason = cause instanceof SyntaxError || cause instanceof TypeError ? 'not JSON' : String(cause);
    throw new Refusal(code, reason);
  }
}

function requireTimely({ iat, exp }: HandOff, { now, ttlSeconds = 300 }: VerifyOptions): void {
  const nowSeconds = toSeconds(now);
  // Each condition says what must be true. A comparison with NaN is false, so a broken clock leads to a refusal.
  if (!(iat <= nowSeconds + leewaySeconds))
    throw new Refusal('issued_in_future', `iat is ${iat - nowSeconds} s ahead of our clock`);
  if (!(nowSeconds < exp + leewaySeconds))
    throw new Refusal(
      'expired',
      `made ${nowSeconds - iat} s ago for ${exp - iat} s: it took too long, or our clock is wrong`,
    );
  if (!(exp > iat && exp - iat <= ttlSeconds))
    throw new Refusal('lifetime_wrong', `it is valid for ${exp - iat} s, and we accept ${ttlSeconds}`);
}

/** Converts a date to whole Unix seconds. */
export const toSeconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** Finds the launch id by a pattern. It parses nothing, because the hand-off may not be verified yet. */
export async function findLaunchId(query: URLSearchParams): Promise<string | undefined> {
  const [payload = '', ...more] = query.getAll('payload');
  const bytes = more.length === 0 && payload.length <= maxPayloadLength ? fromBase64url(payload) : undefined;
  const text = new TextDecoder().decode(bytes);
  const nonce = /"nonce"\s*:\s*"([A-Za-z0-9_-]{22})"/.exec(text)?.[1];
  return nonce && launchId(nonce);
}

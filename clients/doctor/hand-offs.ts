// Makes hand-offs for a client. Genuine ones are sealed as a launch seals them. All others have one thing wrong.
import { base64url, encodeHex } from 'oslo/encoding';
import { createNonce, sealEnvelope } from '../../server/sso/envelope.ts';
import { sign } from '../../server/sso/hmac.ts';
import type { StandardProfile } from '../../server/sso/payload.ts';
import { buildLaunchId } from '../../server/web/launch-id.ts';
import type { Target } from './target.ts';

// biome-ignore lint/suspicious/noExplicitAny: the doctor breaks the shape on purpose
export type Wire = Record<string, any>;

export type HandOff = { query: URLSearchParams; launchId: string };

/** What to change in a hand-off. The members are in the order of the steps in which a hand-off is made. */
export type Changes = {
  members?: (payload: Wire) => void;
  json?: (json: string) => string;
  /** Changes the text that is sent as `payload`. */
  wire?: (wire: string) => string;
  /** Returns the text to sign, if that is not the text that is sent. */
  signed?: (wire: string, json: string) => string;
  query?: (query: URLSearchParams) => void;
};

export type Draft = {
  person: StandardProfile;
  /** Undefined if no browser asked for this hand-off. */
  state: string | undefined;
  returnTo?: string | undefined;
  /** `iat`, in Unix seconds. */
  issuedAt: number;
};

export function draftPayload({ client, issuer, ttlSeconds }: Target, draft: Draft): Wire {
  const { person, state, returnTo, issuedAt } = draft;
  return {
    iss: issuer,
    aud: client,
    iat: issuedAt,
    exp: issuedAt + ttlSeconds,
    nonce: createNonce(),
    client,
    sid: createNonce(),
    auth_time: issuedAt,
    amr: ['pwd'],
    profile: structuredClone(person),
    ...(state !== undefined && { state }),
    ...(returnTo !== undefined && { return_to: returnTo }),
  };
}

export async function makeHandOff(
  payload: Wire,
  secrets: readonly string[],
  changes: Changes = {},
): Promise<HandOff> {
  changes.members?.(payload);
  const query = new URLSearchParams(await seal(payload, secrets, changes));
  changes.query?.(query);
  return { query, launchId: buildLaunchId(String(payload.nonce)) };
}

/** The payload of a hand-off. */
export const readPayload = ({ query }: HandOff): Wire =>
  JSON.parse(new TextDecoder().decode(base64url.decode(query.get('payload') ?? '', { strict: false })));

async function seal(payload: Wire, secrets: readonly string[], { json, wire, signed }: Changes) {
  if (!json && !wire && !signed) return sealEnvelope(payload, secrets);
  const plain = JSON.stringify(payload);
  const text = json?.(plain) ?? plain;
  const encoded = encode(text);
  const sent = wire?.(encoded) ?? encoded;
  const [signature = '', next] = await Promise.all(
    secrets.map((secret) => sign(secret, signed?.(sent, text) ?? sent)),
  );
  return { payload: sent, signature, ...(next && { signature_next: next }) };
}

const encode = (text: string) => base64url.encode(new TextEncoder().encode(text), { includePadding: false });

export function randomDigits(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(32)));
}

// How a client reads a payload, and checks its form. `is('…')` turns a fault on, as in the clients themselves.

type Is = (fault: string) => boolean;
// biome-ignore lint/suspicious/noExplicitAny: what a payload holds is what this file checks
export type Json = any;

export class Refusal extends Error {
  readonly detail: string;
  constructor(code: string, detail = '') {
    super(code);
    this.detail = detail;
  }
}

/** Node's decoder accepts padding, both alphabets and spare bits. So the bytes are encoded again and compared with the text. */
export function decode(wire: string, is: Is): Buffer {
  const bytes = Buffer.from(wire, 'base64url');
  let text = wire;
  if (is('payload_padded')) text = text.replace(/={1,2}$/, '');
  if (is('payload_standard_base64')) text = text.replaceAll('+', '-').replaceAll('/', '_');
  const isSpelt = bytes.toString('base64url') === text || (is('payload_spare_bits') && /^[\w-]+$/.test(text));
  if (wire.length > 8_192 || !isSpelt) throw new Refusal('payload_malformed');
  return bytes;
}

/** Reads JSON of at most 16 levels, in which no name is given twice. */
export function parse(bytes: Buffer, is: Is): Json {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const marks = text.replace(/"(?:[^"\\]|\\.)*"/g, '"');
    let depth = 0;
    for (const mark of marks) {
      if (mark === '{' || mark === '[') depth += 1;
      if (mark === '}' || mark === ']') depth -= 1;
      if (depth > 16 && !is('json_too_deep')) throw new Refusal('json_malformed');
    }
    // JSON.parse calls the function for the whole value, too, which is no member.
    let members = -1;
    const value = JSON.parse(text, function (this: unknown, _, member) {
      if (!Array.isArray(this)) members += 1;
      return member;
    });
    if (marks.split(':').length - 1 !== members && !is('json_duplicate_names'))
      throw new Refusal('json_malformed');
    return value;
  } catch {
    throw new Refusal('json_malformed');
  }
}

export function requireMembers(payload: Json, is: Is): void {
  const isText = (value: unknown) => typeof value === 'string';
  const { profile } = payload ?? {};
  const isRight =
    [payload?.iss, payload?.aud, payload?.client].every(isText) &&
    /^[\w-]{22}$/.test(String(payload.nonce)) &&
    [payload.iat, payload.exp].every(Number.isSafeInteger) &&
    [payload.state, payload.sid].every((value) => value === undefined || isText(value)) &&
    isReturnTo(payload.return_to, is('return_to_open'));
  const isPerson =
    [profile?.id, profile?.email, profile?.name, profile?.role, profile?.profile_updated_at].every(isText) &&
    Array.isArray(profile.account?.capabilities) &&
    profile.account.capabilities.every(isText);
  const isKnown = !is('unknown_member_refused') || payload?.identity_doctor === undefined;
  const isWhole = !is('optional_member_demanded') || isText(payload?.sid);
  const isAscii = !is('name_refused') || /^[ -~]+$/.test(profile?.name);
  if (!isKnown || !isWhole || !isAscii) throw new Refusal('member_wrong');
  if (!isRight || !(isPerson || (is('member_types') && profile))) throw new Refusal('member_wrong');
}

export function isReturnTo(path: unknown, mayBeAnything: boolean): boolean {
  if (path === undefined) return true;
  return typeof path === 'string' && (mayBeAnything || /^\/(?!\/)[^\\\p{Cc}]*$/u.test(path));
}

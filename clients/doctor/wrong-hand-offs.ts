// Hand-offs that a client must refuse. Each has one thing wrong, and the list says what is sent and with which codes a kit
// refuses it.
import type { FindingId } from './findings.ts';
import { type Changes, randomDigits, type Wire } from './hand-offs.ts';

export type WrongHandOff = {
  id: FindingId;
  sent: string;
  codes: string[];
  /** Another finding that would explain why the client accepts the hand-off. */
  unless?: FindingId;
  /** If true, the client may redirect to the login start instead of refusing the hand-off. */
  mayBounce?: boolean;
  changes: Changes;
};

const set = (name: string, value: unknown): Changes => ({
  members: (payload) => {
    payload[name] = value;
  },
});

const onSignature = (change: (signature: string) => string): Changes => ({
  query: (query) => query.set('signature', change(query.get('signature') ?? '')),
});

/** A hand-off that was issued `ahead` seconds from now. Its `exp` changes by as much. */
export const issued = (ahead: number): Changes => ({
  members: (payload: Wire) => {
    const lifetime = payload.exp - payload.iat;
    payload.iat += ahead;
    payload.exp = payload.iat + lifetime;
  },
});

export const expired = (ago: number): Changes => ({
  members: (payload: Wire) => {
    const lifetime = payload.exp - payload.iat;
    payload.exp = payload.iat - ago;
    payload.iat = payload.exp - lifetime;
  },
});

const otherDigit = (digit: string) => (digit === '0' ? '1' : '0');

// JSON may end with spaces. Adds spaces until the length is `over` bytes more than a multiple of three.
const toLength = (over: number) => (json: string) => {
  const length = new TextEncoder().encode(json).length;
  return json + ' '.repeat((over - (length % 3) + 3) % 3);
};

// Base64url of these signs contains `-` and `_`, the last two characters of its alphabet.
const withLastCharacters = (json: string) => toLength(0)(json.replace('{', '{"doctor":"??????>>>>>>",'));

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/**
 * This spelling differs only in bits of the last character that most decoders ignore. So these decoders read the same bytes.
 */
const withSpareBits = (wire: string) =>
  wire.slice(0, -1) + (alphabet[alphabet.indexOf(wire.slice(-1)) + 1] ?? '');

const twice = (name: string) => (json: string) =>
  json.replace(`"${name}":`, `"${name}":"customer","${name}":`);

/** Returns JSON of lists in lists, `levels` deep. */
const nest = (levels: number): unknown[] => (levels === 1 ? [] : [nest(levels - 1)]);

const hour = 3_600;

export const wrongHandOffs: WrongHandOff[] = [
  {
    id: 'mac_not_checked',
    sent: 'a signature of random digits',
    codes: ['signature_wrong'],
    changes: onSignature(randomDigits),
  },
  {
    id: 'mac_not_checked',
    sent: 'no signature',
    codes: ['parameter_missing'],
    mayBounce: true,
    changes: { query: (query) => query.delete('signature') },
  },
  {
    id: 'mac_not_checked',
    sent: 'an empty signature',
    codes: ['parameter_missing', 'signature_malformed'],
    mayBounce: true,
    changes: onSignature(() => ''),
  },
  {
    id: 'mac_compared_in_part',
    sent: 'a signature whose last digit is wrong',
    codes: ['signature_wrong'],
    unless: 'mac_not_checked',
    changes: onSignature((signature) => signature.slice(0, -1) + otherDigit(signature.slice(-1))),
  },
  {
    id: 'mac_compared_in_part',
    sent: 'a signature whose first digit is wrong',
    codes: ['signature_wrong'],
    unless: 'mac_not_checked',
    changes: onSignature((signature) => otherDigit(signature.slice(0, 1)) + signature.slice(1)),
  },
  {
    id: 'signature_uppercase',
    sent: 'a signature in upper case',
    codes: ['signature_malformed'],
    changes: onSignature((signature) => signature.toUpperCase()),
  },
  {
    id: 'signature_repeated',
    sent: 'the signature twice',
    codes: ['parameter_repeated'],
    changes: { query: (query) => query.append('signature', query.get('signature') ?? '') },
  },
  {
    id: 'payload_repeated',
    sent: 'the payload twice',
    codes: ['parameter_repeated'],
    changes: { query: (query) => query.append('payload', query.get('payload') ?? '') },
  },
  {
    id: 'payload_padded',
    sent: 'a padded payload, and the MAC of that',
    codes: ['payload_malformed'],
    changes: { json: toLength(2), wire: (wire) => `${wire}=` },
  },
  {
    id: 'payload_padded',
    sent: 'a padded payload, and the MAC of what it is without padding',
    codes: ['payload_malformed'],
    changes: { json: toLength(2), wire: (wire) => `${wire}=`, signed: (wire) => wire.slice(0, -1) },
  },
  {
    id: 'payload_standard_base64',
    sent: 'a payload with + and /',
    codes: ['payload_malformed'],
    changes: { json: withLastCharacters, wire: (wire) => wire.replaceAll('-', '+').replaceAll('_', '/') },
  },
  {
    id: 'payload_spare_bits',
    sent: 'a payload with spare bits in its last character',
    codes: ['payload_malformed'],
    changes: { json: toLength(1), wire: withSpareBits },
  },
  {
    id: 'json_duplicate_names',
    sent: '"iss" twice',
    codes: ['json_malformed'],
    changes: { json: (json) => json.replace(/"iss":"[^"]*",/, '$&$&') },
  },
  {
    id: 'json_duplicate_names',
    sent: '"role" twice in the profile',
    codes: ['json_malformed'],
    changes: { json: twice('role') },
  },
  {
    id: 'json_duplicate_names',
    sent: '"role" twice in the profile, once spelt with an escape',
    codes: ['json_malformed'],
    changes: { json: (json) => json.replace('"role":', '"\\u0072ole":"customer","role":') },
  },
  {
    id: 'json_too_deep',
    sent: 'JSON of 17 levels',
    codes: ['json_malformed'],
    changes: set('identity_doctor', nest(16)),
  },
  {
    id: 'member_types',
    sent: 'a number as "profile.id"',
    codes: ['member_wrong'],
    changes: { members: ({ profile }) => Object.assign(profile, { id: 1_970 }) },
  },
  {
    id: 'member_types',
    sent: 'a profile without "role"',
    codes: ['member_wrong'],
    changes: {
      members: ({ profile }) => {
        delete profile.role;
      },
    },
  },
  ...(['nonce', 'exp', 'profile'] as const).map(
    (name): WrongHandOff => ({
      id: 'member_types',
      sent: `a payload without "${name}"`,
      codes: ['member_wrong'],
      changes: {
        members: (payload) => {
          // Without the nonce, the launch id in the report means nothing, because it is made from the nonce.
          delete payload[name];
        },
      },
    }),
  ),
  {
    id: 'issuer_not_checked',
    sent: 'an "iss" that only begins like the right one',
    codes: ['issuer_wrong'],
    changes: {
      members: (payload) => Object.assign(payload, { iss: `${payload.iss}.identity-doctor.invalid` }),
    },
  },
  {
    id: 'audience_not_checked',
    sent: 'an "aud" that only begins like the right one',
    codes: ['audience_wrong'],
    changes: {
      members: (payload) => Object.assign(payload, { aud: `${payload.aud}s`, client: `${payload.aud}s` }),
    },
  },
  {
    id: 'lifetime_not_checked',
    sent: 'a hand-off that ends before it begins',
    codes: ['lifetime_wrong'],
    changes: {
      members: (payload) => {
        payload.exp = payload.iat - 1;
      },
    },
  },
  {
    id: 'issuer_not_checked',
    sent: 'another "iss"',
    codes: ['issuer_wrong'],
    changes: set('iss', 'https://identity-doctor.invalid'),
  },
  {
    id: 'audience_not_checked',
    sent: 'another "aud"',
    codes: ['audience_wrong'],
    changes: set('aud', 'identity_doctor'),
  },
  {
    id: 'client_not_checked',
    sent: 'another "client"',
    codes: ['audience_wrong'],
    changes: set('client', 'identity_doctor'),
  },
  {
    id: 'expiry_not_checked',
    sent: 'a hand-off that expired two hours ago',
    codes: ['expired'],
    changes: expired(2 * hour),
  },
  {
    id: 'leeway_too_long',
    sent: 'a hand-off that expired two minutes ago',
    codes: ['expired'],
    unless: 'expiry_not_checked',
    changes: expired(120),
  },
  {
    id: 'leeway_too_long',
    sent: 'a hand-off issued two minutes ahead',
    codes: ['issued_in_future'],
    unless: 'future_not_checked',
    changes: issued(120),
  },
  {
    id: 'future_not_checked',
    sent: 'a hand-off issued two hours ahead',
    codes: ['issued_in_future'],
    changes: issued(2 * hour),
  },
  {
    id: 'lifetime_not_checked',
    sent: 'a hand-off that is valid for a minute longer than ours are',
    codes: ['lifetime_wrong'],
    changes: {
      members: (payload) => {
        payload.exp += 60;
      },
    },
  },
];

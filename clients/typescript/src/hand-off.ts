// What a hand-off says, and whether JSON has the form of a hand-off.

export type Role = 'admin' | 'merchant' | 'customer';

/** A person's profile. Identify people by `id`, which never changes and is never reused. The email address can change. */
export type Profile = {
  id: string;
  email: string;
  name: string;
  role: Role;
  account: { capabilities: string[] };
  /** RFC 3339, in UTC, with milliseconds. Every change makes it later. */
  profile_updated_at: string;
};

/** The verified payload, with the names of the wire format. The service may add members. */
export type HandOff = {
  iss: string;
  aud: string;
  client: string;
  /** Unix seconds. */
  iat: number;
  exp: number;
  nonce: string;
  /** Names this login at your site. The event about its end has the same `sid`. */
  sid?: string;
  /** When the person last gave a credential, in Unix seconds. */
  auth_time?: number;
  /** How the person logged in, such as `["pwd"]`. If it has `mfa`, they also gave a second factor. */
  amr?: string[];
  profile: Profile;
  state?: string;
  return_to?: string;
};

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isWhole: Check = Number.isSafeInteger;
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const isId = matches(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const isToken = matches(/^[A-Za-z0-9_-]{22}$/);
const isInstant: Check = (value) => {
  if (!matches(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)(value)) return false;
  const at = new Date(String(value));
  return !Number.isNaN(at.getTime()) && at.toISOString() === value;
};

/** A path on your own site: one leading slash, at most 2,048 characters, and no backslash, which browsers read as a slash. */
export const isReturnTo: Check = (value) =>
  typeof value === 'string' && value.length <= 2_048 && /^\/(?!\/)[^\\\p{Cc}]*$/u.test(value);

const profileMembers: Record<string, Check> = {
  id: isId,
  email: (value) => typeof value === 'string' && value.length >= 3 && value.length <= 254,
  name: (value) => typeof value === 'string' && value !== '' && Array.from(value).length <= 200,
  role: matches(/^(admin|merchant|customer)$/),
  account: (value) => isTexts(memberOf(value, 'capabilities')),
  profile_updated_at: isInstant,
};

const members: Record<string, Check> = {
  iss: isText,
  aud: isText,
  client: isText,
  iat: isWhole,
  exp: isWhole,
  nonce: isToken,
  sid: optional(isToken),
  auth_time: optional(isWhole),
  amr: optional(isTexts),
  state: optional(matches(/^[A-Za-z0-9._~-]{1,512}$/)),
  return_to: optional(isReturnTo),
};

/** The name of the first member that is missing or has another type. Undefined if all members are correct. */
export function findWrongMember(value: unknown): string | undefined {
  const wrong = Object.keys(members).find((name) => !members[name]?.(memberOf(value, name)));
  if (wrong) return wrong;
  const inProfile = findWrongProfileMember(memberOf(value, 'profile'));
  return inProfile && `profile.${inProfile}`;
}

export const findWrongProfileMember = (value: unknown): string | undefined =>
  Object.keys(profileMembers).find((name) => !profileMembers[name]?.(memberOf(value, name)));

export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

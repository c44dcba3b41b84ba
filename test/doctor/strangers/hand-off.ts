// The form of a hand-off, as contract section 3 has it.
import { Refusal } from './web.ts';

export type Profile = {
  id: string;
  email: string;
  name: string;
  role: string;
  account: { capabilities: string[] };
  profile_updated_at: string;
};

export type HandOff = {
  iss: string;
  aud: string;
  client: string;
  iat: number;
  exp: number;
  nonce: string;
  sid?: string;
  auth_time?: number;
  amr?: string[];
  profile: Profile;
  state?: string;
  return_to?: string;
};

type Test = (value: unknown) => boolean;

const maxDepth = 16;
const isText: Test = (value) => typeof value === 'string';
const isWhole: Test = (value) => Number.isSafeInteger(value);
const isList: Test = (value) => Array.isArray(value) && value.every(isText);
const isLike =
  (pattern: RegExp): Test =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const isMissingOr =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);
const isTime: Test = (value) =>
  isLike(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)(value) &&
  !Number.isNaN(Date.parse(String(value))) &&
  new Date(String(value)).toISOString() === value;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isPath: Test = (value) =>
  typeof value === 'string' && value.length <= 2_048 && /^\/(?!\/)[^\\\p{Cc}]*$/u.test(value);

const tests: [string, Test][] = [
  ['iss', isText],
  ['aud', isText],
  ['client', isText],
  ['iat', isWhole],
  ['exp', isWhole],
  ['nonce', isLike(/^[A-Za-z0-9_-]{22}$/)],
  ['sid', isMissingOr(isLike(/^[A-Za-z0-9_-]{22}$/))],
  ['auth_time', isMissingOr(isWhole)],
  ['amr', isMissingOr(isList)],
  ['state', isMissingOr(isLike(/^[A-Za-z0-9._~-]{1,512}$/))],
  ['return_to', isMissingOr(isPath)],
];

const profileTests: [string, Test][] = [
  ['id', isLike(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)],
  ['email', (value) => typeof value === 'string' && value.length >= 3 && value.length <= 254],
  ['name', (value) => typeof value === 'string' && value !== '' && [...value].length <= 200],
  ['role', isLike(/^(?:admin|merchant|customer)$/)],
  ['account', (value) => isObject(value) && isList(value.capabilities)],
  ['profile_updated_at', isTime],
];

export const isProfile = (value: unknown): value is Profile =>
  isObject(value) && profileTests.every(([name, test]) => test(value[name]));

export const isHandOff = (value: unknown): value is HandOff =>
  isObject(value) && tests.every(([name, test]) => test(value[name])) && isProfile(value.profile);

/** Returns undefined if the text is not canonical base64url. */
export function readBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Throws a Refusal if another reader could read something else, or if the JSON is too deep. */
export function readJson(bytes: Buffer, code: 'json_malformed' | 'nudge_malformed'): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (isPlain(text)) return value;
  } catch {
    // The parser's words may quote the text, so nobody gets to see them.
  }
  throw new Refusal(code);
}

function isPlain(text: string): boolean {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g) ?? [];
  const open: Set<string>[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') {
      open.push(new Set());
      if (open.length > maxDepth) return false;
    } else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') {
      const read: string = JSON.parse(token);
      if (/\p{Surrogate}/u.test(read)) return false;
      if (tokens[at + 1] !== ':') continue;
      if (open.at(-1)?.has(read)) return false;
      open.at(-1)?.add(read);
    }
  }
  return true;
}

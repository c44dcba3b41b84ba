// More than 120 hand-offs that must be refused, as data. A case changes one genuine hand-off at one place.
import { listRefused, nest, type Refused, setMember, type Wire } from '../run/cases.ts';

type Change = {
  /** Changes the payload before it is signed. */
  payload?: (payload: Wire) => void;
  /** Changes the JSON text (or gives bytes) before it is signed. */
  text?: (json: string) => string | Uint8Array;
  /** Changes the query after it is signed. */
  query?: (query: URLSearchParams) => void;
  /** Signs with another secret. */
  secret?: string;
  method?: string;
};

export type Case = Refused<Change>;
const refused = listRefused<Change>;

const set = (path: string, value: unknown): Change => ({
  payload: (payload) => setMember(payload, path, value),
});

const edit = (name: string, change: (value: string) => string) => ({
  query: (query: URLSearchParams) => query.set(name, change(query.get(name) ?? '')),
});

const text = (change: (json: string) => string | Uint8Array) => ({ text: change });

/** `now` is the instant of the test, in Unix seconds. */
export function buildRefusedCases(now: number): Case[] {
  return [
    ...refused(400, 'invalid_request', {
      'no payload': { query: (query) => query.delete('payload') },
      'no signature': { query: (query) => query.delete('signature') },
      'nothing at all': {
        query: (query) => {
          for (const name of [...query.keys()]) query.delete(name);
        },
      },
      'payload twice': { query: (query) => query.append('payload', query.get('payload') ?? '') },
      'signature twice': { query: (query) => query.append('signature', query.get('signature') ?? '') },
      'signature_next twice': {
        query: (query) => {
          query.append('signature_next', 'a'.repeat(64));
          query.append('signature_next', 'a'.repeat(64));
        },
      },
    }),
    ...refused(400, 'malformed_payload', {
      'empty payload': edit('payload', () => ''),
      'padded payload': edit('payload', (value) => `${value}=`),
      'payload with a space': edit('payload', (value) => `${value} `),
      'payload with a plus': edit('payload', (value) => `+${value.slice(1)}`),
      'payload with a slash': edit('payload', (value) => `/${value.slice(1)}`),
      'payload with a dot': edit('payload', (value) => `${value}.`),
      'payload with a line feed': edit('payload', (value) => `${value}\n`),
      'payload with a zero byte': edit('payload', (value) => `${value}\0`),
      'payload with a homoglyph': edit('payload', (value) => `${value.slice(0, -1)}а`),
      'payload of an impossible length': edit('payload', (value) =>
        value.slice(0, value.length - (value.length % 4) + 1),
      ),
      'payload with loose bits at its end': {
        text: (json) => json,
        query: (query) => query.set('payload', 'e31'),
      },
      'payload too long': edit('payload', (value) => value + 'A'.repeat(8_192)),
      'empty signature': edit('signature', () => ''),
      'signature in upper case': edit('signature', (value) => value.toUpperCase()),
      'signature a digit short': edit('signature', (value) => value.slice(1)),
      'signature a digit long': edit('signature', (value) => `${value}0`),
      'signature in base64': edit('signature', () => 'kJ8mYb0y1u3mQk9c1m0p7nYv3hX2a5d8f6g4h2j1k0L='),
      'signature with 0x': edit('signature', (value) => `0x${value.slice(2)}`),
      'signature with a space': edit('signature', (value) => ` ${value.slice(1)}`),
      'signature with full-width digits': edit('signature', (value) => `１${value.slice(1)}`),
      'bad signature_next': { query: (query) => query.set('signature_next', 'x') },
      'no JSON': text(() => 'hello'),
      'empty JSON': text(() => ' '),
      'JSON cut off': text((json) => json.slice(0, -1)),
      'JSON with something after it': text((json) => `${json}{}`),
      'JSON with a comment': text((json) => `/* */${json}`),
      'JSON with a comma too many': text((json) => json.replace(/}$/, ',}')),
      'JSON in single quotes': text((json) => json.replaceAll('"', "'")),
      'JSON with a byte order mark': text((json) => `\ufeff${json}`),
      'not UTF-8': text(() => new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
      'UTF-16': text(
        (json) => new Uint8Array(new Uint16Array([...json].map((char) => char.charCodeAt(0))).buffer),
      ),
      'an array': text((json) => `[${json}]`),
      'a string': text((json) => JSON.stringify(json)),
      null: text(() => 'null'),
      'a name twice': text((json) => json.replace('{', '{"iss":"x",')),
      'a name twice, once escaped': text((json) => json.replace('{', '{"\\u0069ss":"x",')),
      'a name twice in the profile': text((json) => json.replace('"role"', '"role":"customer","role"')),
      'a name twice in the account': text((json) =>
        json.replace('"capabilities"', '"capabilities":[],"capabilities"'),
      ),
      'an unknown name twice': text((json) => json.replace('{', '{"x":1,"x":2,')),
      'nested too deeply': text((json) => json.replace('{', `{"x":${nest(16)},`)),
      'nested far too deeply': text((json) => json.replace('{', `{"x":${nest(2_000)},`)),
      'no iss': set('iss', undefined),
      'iss a number': set('iss', 1),
      'no aud': set('aud', undefined),
      'aud a list': set('aud', ['http://localhost:3000']),
      'no client': set('client', undefined),
      'no iat': set('iat', undefined),
      'iat a string': set('iat', String(now)),
      'iat with a fraction': set('iat', now + 0.5),
      'iat beyond numbers': text((json) => json.replace(/"iat":\d+/, '"iat":1e400')),
      'no exp': set('exp', undefined),
      'exp null': set('exp', null),
      'exp true': set('exp', true),
      'exp too large for an integer': text((json) => json.replace(/"exp":\d+/, '"exp":9007199254740993')),
      'no nonce': set('nonce', undefined),
      'nonce empty': set('nonce', ''),
      'nonce of 15': set('nonce', 'n'.repeat(15)),
      'nonce of 129': set('nonce', 'n'.repeat(129)),
      'nonce with a dot': set('nonce', 'nonce.nonce.nonce.'),
      'nonce with a line feed': set('nonce', `${'n'.repeat(20)}\n`),
      'nonce a number': set('nonce', 1_234_567_890_123_456),
      'return_to another site': set('return_to', 'https://evil.example/'),
      'return_to with two slashes': set('return_to', '//evil.example'),
      'return_to with a backslash': set('return_to', '/\\evil.example'),
      'return_to that becomes two slashes': set('return_to', '/.//evil.example'),
      'return_to with a control character': set('return_to', '/a\tb'),
      'return_to empty': set('return_to', ''),
      'no profile': set('profile', undefined),
      'profile a string': set('profile', 'x'),
      'profile a list': set('profile', []),
      'profile only by __proto__': text((json) => json.replace('"profile"', '"__proto__"')),
      'no id': set('profile.id', undefined),
      'id empty': set('profile.id', ''),
      'id a number': set('profile.id', 1),
      'id with a space': set('profile.id', 'a b'),
      'id with a no-break space': set('profile.id', 'a\u00a0b'),
      'id with a control character': set('profile.id', 'a\u0007'),
      'id with a zero byte': set('profile.id', 'a\u0000'),
      'id with a zero-width space': set('profile.id', 'a\u200bb'),
      'id with a lone surrogate': text((json) => json.replace('"id":"', '"id":"\\ud800')),
      'id of 129': set('profile.id', 'i'.repeat(129)),
      'no e-mail': set('profile.email', undefined),
      'e-mail without @': set('profile.email', 'x.example.test'),
      'e-mail with two @': set('profile.email', 'x@y@example.test'),
      'e-mail without a name': set('profile.email', '@example.test'),
      'e-mail without a domain': set('profile.email', 'x@'),
      'e-mail with a space': set('profile.email', 'x y@example.test'),
      'e-mail with a space at its end': set('profile.email', 'x@example.test '),
      'e-mail with a full-width character': set('profile.email', 'ｘ@example.test'),
      'e-mail with a ligature': set('profile.email', 'ﬁ@example.test'),
      'e-mail decomposed': set('profile.email', 'zoe\u0308@example.test'),
      'e-mail with a zero-width joiner': set('profile.email', 'x\u200d@example.test'),
      'e-mail with a soft hyphen': set('profile.email', 'x\u00ad@example.test'),
      'e-mail with a bidi override': set('profile.email', 'x\u202e@example.test'),
      'e-mail with a line feed': set('profile.email', 'x\n@example.test'),
      'e-mail with a zero byte': set('profile.email', 'x\u0000@example.test'),
      'e-mail with a full-width @': set('profile.email', 'x＠example.test'),
      'e-mail with a domain that is none': set('profile.email', 'x@exa mple'),
      'e-mail with an empty label': set('profile.email', 'x@example..test'),
      'e-mail of 255': set('profile.email', `${'x'.repeat(242)}@example.test`),
      'e-mail a list': set('profile.email', ['x@example.test']),
      'email_verified a string': set('profile.email_verified', 'true'),
      'email_verified null': set('profile.email_verified', null),
      'no name': set('profile.name', undefined),
      'name empty': set('profile.name', ''),
      'name of spaces': set('profile.name', ' \u00a0\t '),
      'name of 201': set('profile.name', 'n'.repeat(201)),
      'name with a zero byte': set('profile.name', 'a\u0000b'),
      'name with an escape': set('profile.name', 'a\u001bb'),
      'name with a line feed': set('profile.name', 'a\nb'),
      'name with a bidi override': set('profile.name', 'a\u202eb'),
      'name with a bidi isolate': set('profile.name', 'a\u2066b'),
      'name with a lone surrogate': text((json) => json.replace('"name":"', '"name":"\\udfff')),
      'no role': set('profile.role', undefined),
      'role of another kind': set('profile.role', 'superuser'),
      'role in capitals': set('profile.role', 'Admin'),
      'role with a homoglyph': set('profile.role', 'аdmin'),
      'role a list': set('profile.role', ['customer']),
      'no account': set('profile.account', undefined),
      'no capabilities': set('profile.account.capabilities', undefined),
      'capabilities a string': set('profile.account.capabilities', 'sell_products'),
      'capabilities with a number': set('profile.account.capabilities', [1]),
      'account name empty': set('profile.account.name', ''),
      'account name with a control character': set('profile.account.name', 'a\u0085b'),
      'no profile_updated_at': set('profile.profile_updated_at', undefined),
      'profile_updated_at a number': set('profile.profile_updated_at', now),
      'profile_updated_at without a zone': set('profile.profile_updated_at', '2026-01-01T00:00:00'),
      'profile_updated_at without a time': set('profile.profile_updated_at', '2026-01-01'),
      'profile_updated_at without seconds': set('profile.profile_updated_at', '2026-01-01T00:00Z'),
      'profile_updated_at on 30 February': set('profile.profile_updated_at', '2026-02-30T00:00:00Z'),
      'profile_updated_at in words': set('profile.profile_updated_at', 'yesterday'),
    }),
    ...refused(401, 'invalid_signature', {
      'another secret': { secret: 'another-secret-another-secret-another' },
      'the outgoing secret': { secret: 'local-identity-sso-secret-do-not-use' },
      'a payload changed after signing': edit('payload', (value) => `${value.slice(0, -4)}AAAA`),
      'a signature changed': edit('signature', (value) =>
        value.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
      ),
      'another iss': set('iss', 'https://evil.example'),
      'iss with a slash': set('iss', 'https://marketplace.local.test/'),
      'iss in capitals': set('iss', 'HTTPS://MARKETPLACE.LOCAL.TEST'),
      'our own iss': set('iss', 'http://localhost:3000'),
      'another aud': set('aud', 'https://evil.example'),
      'aud the client': set('aud', 'marketplace'),
      'aud with a slash': set('aud', 'http://localhost:3000/'),
      'another client': set('client', 'crm_app'),
    }),
    ...refused(401, 'payload_expired', {
      'expired 30 s ago': { payload: (payload) => Object.assign(payload, { iat: now - 330, exp: now - 30 }) },
      'expired long ago': { payload: (payload) => Object.assign(payload, { iat: 1, exp: 301 }) },
      'from the future': { payload: (payload) => Object.assign(payload, { iat: now + 60, exp: now + 120 }) },
      'living too long': set('exp', now + 302),
      'living for ever': set('exp', Number.MAX_SAFE_INTEGER),
      'living not at all': { payload: (payload) => Object.assign(payload, { iat: now, exp: now }) },
      'living backwards': { payload: (payload) => Object.assign(payload, { iat: now + 20, exp: now + 10 }) },
      'changed in the future': set('profile.profile_updated_at', new Date((now + 120) * 1_000).toISOString()),
    }),
    ...refused(405, 'method_not_allowed', { PUT: { method: 'PUT' }, DELETE: { method: 'DELETE' } }),
  ];
}

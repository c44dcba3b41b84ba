// Generated text. Some of it is valid somewhere, and some of it is valid nowhere.
import { fc } from '../run/random.ts';

export const demoNames = ['customer', 'merchant', 'manager', 'admin', 'unverified', 'suspended'];

export const oddWords = [
  ...['', '0', '-1', '-0', '1e999', 'NaN', '9'.repeat(400), '9007199254740993', '0x10', 'null', 'true'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', '[object Object]'],
  ...['\0', 'a\0b', '\ud800', '\udfff!', '\ufeff', '\u202e', '\u2028', 'e\u0301', 'İ', 'ß', 'ﬀ', '👨‍👩‍👧'],
  ...['..', '../../etc/passwd', '//evil.example', '/\\evil.example', 'javascript:alert(1)', 'https://['],
  ...["' or 1=1 --", '$1', '%s%n', '%', '%zz', '%00', '%ED%A0%80', '%2e%2e%2f', '<script>', '\r\nX: y'],
  ...['a@b', '@', 'a@b@c', 'ä@ö.example', 'a@[127.0.0.1]', `${'a'.repeat(250)}@x.example`, 'xn--@xn--.xn--'],
];

const rightWords = [
  ...demoNames.map((name) => `${name}@example.test`),
  ...['local demo password', 'quite another long password', 'Zoë O’Neil', 'names', 'password', 'on', '60'],
  ...['end-session', 'end-others', 'remove-link', 'marketplace', 'network_site', 'crm_app', 'none', 'login'],
  ...['/profile', '/continue?id=x', 'state-1', '0190f5a0-0000-7000-8000-000000000003', 'A'.repeat(43)],
  ...['2026-01-01T00:00:00.000Z', '2592000', '1000', '1'],
];

const fieldNames = [
  ...['state', 'return_to', 'prompt', 'max_age', 'auth_after', 'next', 'token', 'id', 'client', 'after'],
  ...['limit', 'input', 'batch', 'payload', 'signature', 'signature_next', '_data', '_routes', 'error'],
  ...[
    'wait_seconds',
    'saved',
    'age',
    'changed',
    'role',
    'email',
    'password',
    'name',
    'accountName',
    'intent',
    'purpose',
    'passkey',
    'confirmPasskey',
  ],
  ...['currentPassword', 'newPassword', 'profile_updated_at', 'provider', 'externalId', 'capabilities'],
  ...['email_verified', '__proto__', 'constructor', ''],
];

export const rightText = fc.constantFrom(...rightWords);

export const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddWords) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...oddWords), fc.nat(3_000))
      .map(([word, times]) => word.repeat(times).slice(0, 9_000)),
  },
);

export const text = fc.oneof({ weight: 3, arbitrary: rightText }, { weight: 2, arbitrary: oddText });

export const fieldName = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...fieldNames) },
  { weight: 1, arbitrary: oddText },
);

/** The fields of a form or a query; a name may come twice. */
export const fields = fc.array(fc.tuple(fieldName, text), { maxLength: 6 });

/** Percent-encodes text, with lone surrogates as U+FFFD. */
export const percentEncode = (value: string) =>
  encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'));

export const encodeFields = (all: [string, string][]) =>
  all.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`).join('&');

/** What a header can hold on the wire. */
export const headerText = fc.oneof(
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 40,
  }),
  fc.constantFrom(...oddWords).map((word) => word.replace(/[^\x20-\x7e\x80-\xff]/g, '?')),
);

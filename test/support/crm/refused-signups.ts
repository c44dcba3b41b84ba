// Signups that must be refused, as data. A case changes one genuine signup at one place.
import { nest } from '../run/cases.ts';
import { type Case, header, refused, text, without } from './raw-signups.ts';
import { credentialCases } from './refused-signup-credentials.ts';
import { memberCases } from './refused-signup-members.ts';

/** `now` is the instant of the test, in Unix seconds. */
export const buildRefusedCases = (now: number): Case[] => [
  ...credentialCases(now),
  ...refused(405, 'method_not_allowed', {
    GET: { method: 'GET' },
    HEAD: { method: 'HEAD' },
    PUT: { method: 'PUT' },
    PATCH: { method: 'PATCH' },
    DELETE: { method: 'DELETE' },
    OPTIONS: { method: 'OPTIONS' },
  }),
  ...refused(413, 'body_too_large', {
    '64 KiB and one byte': text((json) => json.padEnd(65_537)),
    '64 KiB and one byte, in pieces': { ...text((json) => json.padEnd(65_537)), isChunked: true },
    '10 MiB in pieces': { ...text((json) => json.padEnd(10 * 1_024 * 1_024)), isChunked: true },
  }),
  ...refused(415, 'unsupported_media_type', {
    'no content type': without('content-type'),
    'content type empty': header('content-type', ''),
    'text/plain': header('content-type', 'text/plain'),
    'a form': header('content-type', 'application/x-www-form-urlencoded'),
    'a form with files': header('content-type', 'multipart/form-data; boundary=x'),
    'application/json5': header('content-type', 'application/json5'),
    'application/problem+json': header('content-type', 'application/problem+json'),
    'JSON in Latin-1': header('content-type', 'application/json; charset=iso-8859-1'),
    'JSON in UTF-16': header('content-type', 'application/json; charset=utf-16'),
    'two content types': header('content-type', 'application/json, text/plain'),
  }),
  ...jsonCases,
  ...memberCases(now),
];

const jsonCases = refused(400, 'malformed_json', {
  'no JSON': text(() => 'hello'),
  'an empty body': text(() => ''),
  'a body of spaces': text(() => '  \n'),
  'JSON cut off': text((json) => json.slice(0, -1)),
  'JSON with something after it': text((json) => `${json}{}`),
  'JSON with a comment': text((json) => `/* */${json}`),
  'JSON with a comma too many': text((json) => json.replace(/}$/, ',}')),
  'JSON in single quotes': text((json) => json.replaceAll('"', "'")),
  'JSON with NaN': text((json) => json.replace('49137', 'NaN')),
  'JSON with a number in hex': text((json) => json.replace('49137', '0xbff1')),
  'JSON with a line feed in a string': text((json) => json.replace('Canary Company', 'Canary\nCompany')),
  'JSON with a byte order mark': text((json) => `\ufeff${json}`),
  'invalid UTF-8': text((json) => Buffer.from(json.replace('Company', 'Compañia'), 'latin1')),
  'UTF-8 of a surrogate': text((json) =>
    Buffer.from(json.replace('Company', '\u00ed\u00a0\u0080'), 'latin1'),
  ),
  'UTF-16': text((json) => Buffer.from(json, 'utf16le')),
  'a name twice': text((json) => json.replace('{', '{"signup_id":"x",')),
  'a name twice with the same value': text((json) => json.replace(/{("signup_id":"[^"]*"),/, '{$1,$1,')),
  'a name twice, once escaped': text((json) => json.replace('{', '{"\\u0073ignup_id":"x",')),
  'a name twice in the user': text((json) => json.replace('"email"', '"email":"x@example.test","email"')),
  'a name twice in the price': text((json) => json.replace('"unit_amount"', '"unit_amount":1,"unit_amount"')),
  'an unknown name twice': text((json) => json.replace('{', '{"x":1,"x":2,')),
  'a name twice in an unknown member': text((json) => json.replace('{', '{"x":[{"y":1,"y":1}],')),
  '17 levels deep': text((json) => json.replace('{', `{"x":${nest(16)},`)),
  '20,000 levels deep': text((json) => json.replace('{', `{"x":${nest(20_000)},`)),
});
